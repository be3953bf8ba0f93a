"""Small named types of the settings. Each is a validator with its own tests, and a function to the number it means.

Validators raise ValueError with what is accepted; where the value stands is added by the reader of the settings.
"""

from __future__ import annotations

import re
import uuid
from decimal import Decimal, InvalidOperation
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

_QUANTITY = re.compile(r"(?P<number>\+?(?:\d+\.?\d*|\.\d+))(?P<unit>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?")
_UNITS = {
    **{"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(1000)},
    **{unit: Decimal(1000) ** (power + 2) for power, unit in enumerate("MGTPE")},
    **{f"{unit}i": Decimal(1024) ** (power + 1) for power, unit in enumerate("KMGTPE")},
}
_DURATION = re.compile(
    r"(?:(?P<y>\d+)y)?(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?(?:(?P<ms>\d+)ms)?"
)
_SECONDS = {"y": 31_536_000.0, "w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SIZE = re.compile(r"(?P<number>[1-9]\d*)(?P<unit>[KMGTPE]?B)")
_SIZE_UNITS: dict[str, int] = {
    unit: int(1024**power) for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB", "EB"))
}
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")
_HOST = r"[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d{1,5})?"
_PATH = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(rf"{_HOST}(?:/{_PATH})+(?::(?P<tag>\w[\w.-]{{0,127}}))?(?P<digest>@sha256:[0-9a-f]{{64}})?")
_MIRROR = re.compile(rf"{_HOST}(?:/{_PATH})*")
_SECRET_KEY = re.compile(r"[-._A-Za-z0-9]{1,253}")


def quantity_value(text: str) -> Decimal:
    """Kubernetes quantity (`500m`, `10Gi`, `1e3`) → number in its base unit: bytes, or cores. Raises ValueError."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(
            f"`{text}` is not a Kubernetes quantity: accepted is a number with one of n u m k M G T P E Ki Mi Gi Ti Pi "
            "Ei behind it, for example `10Gi` or `500m`"
        )
    unit = found["unit"] or ""
    try:
        factor = _UNITS[unit] if unit in _UNITS else Decimal(f"1{unit}")
    except InvalidOperation:  # pragma: no cover  # the expression above admits no such unit
        raise ValueError(f"`{text}` has an unknown unit") from None
    return Decimal(found["number"]) * factor


def quantity_bytes(text: str) -> int:
    """Kubernetes quantity → whole bytes, rounded up as Kubernetes does. Raises ValueError."""
    value = quantity_value(text)
    return int(value) + (value != int(value))


def _quantity(text: str) -> str:
    if quantity_value(text) <= 0:
        raise ValueError(f"`{text}` must be more than 0")
    return text


def duration_seconds(text: str) -> float:
    """Prometheus duration (`15d`, `1h30m`, `500ms`; y = 365 d, w = 7 d) → seconds. Raises ValueError."""
    found = _DURATION.fullmatch(text)
    if found is None or not text:
        raise ValueError(
            f"`{text}` is not a Prometheus duration: accepted are whole numbers with y, w, d, h, m, s or ms, the "
            "largest first, for example `15d` or `1h30m`"
        )
    return sum(int(number) * _SECONDS[unit] for unit, number in found.groupdict(default="0").items())


def _duration(text: str) -> str:
    if duration_seconds(text) <= 0:
        raise ValueError(f"`{text}` must be more than 0")
    return text


def size_bytes(text: str) -> int:
    """Size as Prometheus writes it (`8GB`) → bytes. Its units are powers of two: 1KB is 1024 bytes. ValueError."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"`{text}` is not a size of Prometheus: accepted is a whole number with B, KB, MB, GB, TB, PB or EB "
            "(powers of two, 1KB is 1024 bytes), for example `8GB`"
        )
    return int(found["number"]) * _SIZE_UNITS[found["unit"]]


def _size(text: str) -> str:
    size_bytes(text)
    return text


def _dns_name(text: str) -> str:
    if not _DNS_LABEL.fullmatch(text):
        raise ValueError(f"`{text}` is not a DNS label: accepted are 1 to 63 lower-case letters, digits and inner `-`")
    return text


def _dns_subdomain(text: str) -> str:
    if not _DNS_SUBDOMAIN.fullmatch(text):
        raise ValueError(
            f"`{text}` is not a Kubernetes name: accepted are lower-case letters, digits, inner `-` and `.`"
        )
    return text


def _label_value(text: str) -> str:
    if not _LABEL_VALUE.fullmatch(text):
        raise ValueError(
            f"`{text}` cannot be a label value: accepted are 1 to 63 letters, digits and inner `-`, `_`, `.`"
        )
    return text


def _image_ref(text: str) -> str:
    found = _IMAGE.fullmatch(text)
    if found is None or (found["tag"] is None and found["digest"] is None) or found["tag"] == "latest":
        raise ValueError(
            f"`{text}` does not pin an image: accepted is host/name:tag, host/name@sha256:…, or both; not `latest`"
        )
    return text


def _mirror(text: str) -> str:
    if not _MIRROR.fullmatch(text):
        raise ValueError(f"`{text}` is not a registry: accepted is host[:port][/path], without scheme or end slash")
    return text


def _kube_uid(text: str) -> str:
    try:
        canonical = str(uuid.UUID(text))
    except ValueError:
        canonical = ""
    if canonical != text:
        raise ValueError(
            f"`{text}` is not the uid of a Kubernetes object: accepted are 32 lower-case hex digits in the form "
            "8-4-4-4-12"
        )
    return text


def _http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"`{text}` is not a web address: accepted is http://… or https://…")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address must not hold a user or password: name an existing Secret instead")
    return text


def _secret_key(text: str) -> str:
    if not _SECRET_KEY.fullmatch(text):
        raise ValueError(f"`{text}` is not a key of a Secret: accepted are letters, digits, `-`, `_` and `.`")
    return text


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Quantity = Annotated[str, AfterValidator(_quantity)]
Duration = Annotated[str, AfterValidator(_duration)]
SizeRetention = Annotated[str, AfterValidator(_size)]
DnsName = Annotated[str, AfterValidator(_dns_name)]
DnsSubdomain = Annotated[str, AfterValidator(_dns_subdomain)]
LabelValue = Annotated[str, AfterValidator(_label_value)]
ImageRef = Annotated[str, AfterValidator(_image_ref)]
Mirror = Annotated[str, AfterValidator(_mirror)]
KubeUid = Annotated[str, AfterValidator(_kube_uid)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
SecretKey = Annotated[str, AfterValidator(_secret_key)]
Text = Annotated[str, AfterValidator(_text)]
