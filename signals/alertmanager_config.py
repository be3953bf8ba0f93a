"""The whole configuration of Alertmanager as data: deployed by its component, and rendered again by smoke.

Both render it from receivers, route and inhibition rules with the functions of this file, so that smoke needs nothing
but the outputs contract to know which text the running Alertmanager must have loaded. Keys and defaults are those of
Alertmanager 0.31 (config/config.go and config/notifiers.go of its module).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from signals.yamltext import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]

CONFIG_FILE: Final = "alertmanager.yml"
HASH_METRIC: Final = "alertmanager_config_hash"

_TIMEOUT: Final = "10s"
_HASH_BYTES: Final = 6


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """One address that is told, as Alertmanager sees it. Holds paths of credentials, never credentials.

    url: address without credentials, or url_file: file in the pod that holds the address. credentials_file: file in
    the pod that holds a bearer token. send_resolved: tell the end of an alert as well.
    """

    url: str | None = None
    url_file: str | None = None
    credentials_file: str | None = None
    send_resolved: bool = True

    def __post_init__(self) -> None:
        """Raises ValueError without an address or with two."""
        if (self.url is None) == (self.url_file is None):
            raise ValueError("a webhook has no address or two; accepted is exactly one of url and url_file")


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Who is told. name: one of routing.RECEIVERS. webhooks: each of them gets every notification."""

    name: str
    webhooks: tuple[Webhook, ...]

    def __post_init__(self) -> None:
        """Raises ValueError if nobody is told."""
        if not self.webhooks:
            raise ValueError(f"receiver {self.name} has no webhook; accepted is at least one")


def document(receivers: Sequence[Receiver], route: Json, inhibit_rules: list[Json]) -> Json:
    """The configuration as Alertmanager spells it. route: the root of the routing tree."""
    return {
        "route": route,
        "inhibit_rules": inhibit_rules,
        "receivers": [
            {"name": receiver.name, "webhook_configs": [_webhook(webhook) for webhook in receiver.webhooks]}
            for receiver in receivers
        ],
    }


def render(receivers: Sequence[Receiver], route: Json, inhibit_rules: list[Json]) -> str:
    """The text of the configuration file. The same data always gives the same bytes."""
    return dump(document(receivers, route, inhibit_rules))


def config_hash(text: str) -> float:
    """Value of `alertmanager_config_hash` once this text is loaded.

    The first 48 bits of the file's MD5, read as a little-endian number: they fit a float exactly (md5HashAsMetricValue
    in config/coordinator.go). Covers every byte, which /api/v2/status does not: there, addresses are hidden.
    """
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return float(int.from_bytes(digest[:_HASH_BYTES], "little"))


def differences(running: str, rendered: str) -> list[str]:
    """Where `config.original` of /api/v2/status differs from the rendered text, each as `path: what`. [] means equal.

    Alertmanager shows what it loaded in its own words: with defaults, with `<secret>` for addresses, matchers sorted
    and durations spelt anew. None of these is a difference.
    """
    return [
        f"{path or 'the document'}: {what}"
        for path, what in _differ("", yaml.safe_load(running), yaml.safe_load(rendered))
    ]


def _webhook(webhook: Webhook) -> Json:
    # A redirected POST becomes a GET without a body, whose 200 would count as delivered; refused, it counts as failed.
    http: Json = {"follow_redirects": False}
    if webhook.credentials_file is not None:
        http["authorization"] = {"type": "Bearer", "credentials_file": webhook.credentials_file}
    return {
        **({"url": webhook.url} if webhook.url is not None else {"url_file": webhook.url_file}),
        "send_resolved": webhook.send_resolved,
        # Without it, a receiver that accepts and never answers uses up all the time there is, and nothing is retried.
        "timeout": _TIMEOUT,
        "http_config": http,
    }


_DEFAULTS: Final[Json] = {
    "continue": False,
    "templates": [],
    "inhibit_rules": [],
    "routes": [],
    "url_file": "",
    "max_alerts": 0,
    "enable_http2": True,
}
"""What Alertmanager adds to a configuration that does not mention it. `global` is not compared: none is rendered."""

_HIDDEN: Final = "<secret>"
_DURATIONS: Final = frozenset({"group_wait", "group_interval", "repeat_interval", "timeout"})
_UNORDERED: Final = frozenset({"matchers", "source_matchers", "target_matchers", "group_by", "equal"})
_MATCHER: Final = re.compile(r"""\s*(?P<name>[^\s=!~"]+)\s*(?P<op>=~|!~|!=|=)\s*(?P<value>.*?)\s*""", re.DOTALL)
_UNIT: Final = re.compile(r"(\d+)(ms|[ywdhms])")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}


def _differ(path: str, running: object, rendered: object) -> list[tuple[str, str]]:
    key = path.rpartition(".")[2]
    if isinstance(running, dict) and isinstance(rendered, dict):
        return _differ_by_key(path, running, rendered)
    if key in _UNORDERED and isinstance(running, list) and isinstance(rendered, list):
        seen, wanted = (sorted(_matcher(str(entry)) for entry in entries) for entries in (running, rendered))
        return [] if seen == wanted else [(path, f"runs {seen}, rendered is {wanted}")]
    if isinstance(running, list) and isinstance(rendered, list):
        if len(running) != len(rendered):
            return [(path, f"runs {len(running)} entries, rendered are {len(rendered)}")]
        pairs = enumerate(zip(running, rendered, strict=True))
        return [found for index, (seen, wanted) in pairs for found in _differ(f"{path}[{index}]", seen, wanted)]
    if key in _DURATIONS:
        running, rendered = seconds(str(running)), seconds(str(rendered))
    if running == rendered or (key == "url" and running == _HIDDEN):
        return []
    return [(path, f"runs {running!r}, rendered is {rendered!r}")]


def _differ_by_key(path: str, running: Json, rendered: Json) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key in sorted((running.keys() | rendered.keys()) - {"global"}):
        below = f"{path}.{key}" if path else str(key)
        if key in running and key in rendered:
            found += _differ(below, running[key], rendered[key])
        elif key in running and running[key] != _DEFAULTS.get(key, _ABSENT):
            found.append((below, f"runs {running[key]!r}, rendered is nothing"))
        elif key in rendered and rendered[key] != _DEFAULTS.get(key, _ABSENT):
            found.append((below, f"runs without it, rendered is {rendered[key]!r}"))
    return found


_ABSENT: Final = object()


def _matcher(text: str) -> str:
    """A matcher without the freedom of its spelling: `a = b` and `a="b"` are one."""
    found = _MATCHER.fullmatch(text)
    if found is None:
        return text
    value = found["value"]
    quoted = value if value.startswith('"') else f'"{value}"'
    return f"{found['name']}{found['op']}{quoted}"


def seconds(duration: str) -> float:
    """Duration as Prometheus or Go writes it, in whole numbers (`5m`, `1m30s`, `1d`) → seconds. Raises ValueError."""
    parts = _UNIT.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f"`{duration}` is not a duration: accepted are whole numbers with y, w, d, h, m, s or ms")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)
