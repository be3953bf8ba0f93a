"""Small named types of the settings. Each is a validator with its own tests, and a function to the number it means.

Validators raise ValueError with what is accepted; where the value stands is added by the reader of the settings.
"""

from __future__ import annotations

import re
import uuid
from decimal import Decimal, InvalidOperation
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator

from signals.secret_addresses import secret_path
from stacks import cron

_QUANTITY = re.compile(r"(?P<number>\+?(?:\d+\.?\d*|\.\d+))(?P<unit>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?")
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,3})?(?:[mkMGTPE]|[KMGTPE]i)?")
_MAX_QUANTITY = 2**63 - 1
_UNITS = {
    **{"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(1000)},
    **{unit: Decimal(1000) ** (power + 2) for power, unit in enumerate("MGTPE")},
    **{f"{unit}i": Decimal(1024) ** (power + 1) for power, unit in enumerate("KMGTPE")},
}
_DURATION = re.compile(
    r"(?:(?P<y>\d{1,15})y)?(?:(?P<w>\d{1,15})w)?(?:(?P<d>\d{1,15})d)?(?:(?P<h>\d{1,15})h)?(?:(?P<m>\d{1,15})m)?(?:(?P<s>\d{1,15})s)?(?:(?P<ms>\d{1,15})ms)?"
)
_SECONDS = {"y": 31_536_000.0, "w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SIZE = re.compile(r"(?P<number>[1-9]\d{0,14})(?P<unit>[KMGTPE]?B)")
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
_NAMES_A_SECRET = re.compile(
    r"pass|pwd|token|secret|credential|signature|authorization|(?:^|[-_])(?:auth|sig)$|(?:^|api|access)[-_]?key$",
    re.IGNORECASE,
)


def quantity_value(text: str) -> Decimal:
    """Kubernetes quantity (`500m`, `10Gi`, `1e3`) → number in its base unit: bytes, or cores. Raises ValueError.

    Takes what a cluster may answer; settings may hold less, see _quantity().
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise _not_a_quantity(text)
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


def _not_a_quantity(text: str, units: str = "m k M G T P E Ki Mi Gi Ti Pi Ei") -> ValueError:
    examples = "`10Gi` or `500m`" if units.startswith("m ") else "`10Gi`"
    return ValueError(
        f"`{text}` is not a Kubernetes quantity: accepted is a number with one of {units} behind it, for "
        f"example {examples}"
    )


def _quantity(text: str) -> str:
    """No sign and no exponent: `1E` is 10^18, `1E3` a thousand, and one of them is a slip."""
    if not _PLAIN.fullmatch(text):
        raise _not_a_quantity(text)
    if not 0 < quantity_value(text) <= _MAX_QUANTITY:
        raise ValueError(f"`{text}` must be more than 0 and less than 8Ei, where Kubernetes stops counting")
    return text


def _bytes(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        raise _not_a_quantity(text, "k M G T P E Ki Mi Gi Ti Pi Ei")
    _quantity(text)
    if text.endswith("m"):
        raise ValueError(f"`{text}` is thousandths of a byte: accepted is a size, for example `{text[:-1]}Mi`")
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


def _namespace(text: str) -> str:
    if not _DNS_LABEL.fullmatch(text) or text == "default" or text.startswith("kube-"):
        raise ValueError(
            f"`{text}` cannot be the namespace of a stack: accepted are 1 to 63 lower-case letters, digits and inner "
            "`-`; not `default` and not `kube-…`, which are Kubernetes' own"
        )
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
    """Credentials first: what is refused for another reason is repeated, and Prometheus makes the rest a label."""
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError("the value is not a web address: accepted is http://… or https://…") from None
    if "@" in parts.netloc:
        raise ValueError("an address must not hold a user or password: name an existing Secret instead")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _NAMES_A_SECRET.search(name):
            raise ValueError(
                f"an address must not hold a secret, and its parameter `{name}` looks like one: name an existing "
                "Secret instead"
            )
    if not right:
        raise ValueError(f"`{text}` is not a web address: accepted is http://… or https://…")
    return text


def _webhook_url(text: str) -> str:
    """The path first: another refusal repeats it. Not for every address: that of runbooks may well hold a commit."""
    try:
        secret = secret_path(text)
    except ValueError:
        secret = False
    if secret:
        raise ValueError("the path of the address is a secret: put the address into a Secret and name it by url_secret")
    return _http_url(text)


def _secret_key(text: str) -> str:
    if not _SECRET_KEY.fullmatch(text):
        raise ValueError(f"`{text}` is not a key of a Secret: accepted are letters, digits, `-`, `_` and `.`")
    return text


def _cron(text: str) -> str:
    return cron.check(text)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Quantity = Annotated[str, AfterValidator(_quantity)]
Bytes = Annotated[str, AfterValidator(_bytes)]
Duration = Annotated[str, AfterValidator(_duration)]
SizeRetention = Annotated[str, AfterValidator(_size)]
DnsName = Annotated[str, AfterValidator(_dns_name)]
Namespace = Annotated[str, AfterValidator(_namespace)]
DnsSubdomain = Annotated[str, AfterValidator(_dns_subdomain)]
LabelValue = Annotated[str, AfterValidator(_label_value)]
ImageRef = Annotated[str, AfterValidator(_image_ref)]
Mirror = Annotated[str, AfterValidator(_mirror)]
KubeUid = Annotated[str, AfterValidator(_kube_uid)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
WebhookUrl = Annotated[str, AfterValidator(_webhook_url)]
SecretKey = Annotated[str, AfterValidator(_secret_key)]
Cron = Annotated[str, AfterValidator(_cron)]
Text = Annotated[str, AfterValidator(_text)]
