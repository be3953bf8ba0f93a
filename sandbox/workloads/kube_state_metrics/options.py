"""The command line: upstream's flags, as far as the stand-in does what they say."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from sandbox.workloads.kube_state_metrics.families import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALLOWED: Final = re.compile(r"\s*([^=,\[\]]+)=\[([^=\[\]]*)\]\s*")
_LARGEST_PORT: Final = 65535
ALL: Final = "*"
"""Key of `--metric-labels-allowlist` that stands for every resource."""


class OptionError(Exception):
    """A flag that cannot be used. The message says which, what is accepted and what to do next."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The parsed command line.

    host, telemetry_host: addresses to listen on; `::` is every address of both families. resources: names in order.
    labels: resource → label keys that its family of labels shows. namespaces: none = all. allow, deny: expressions
    that match anywhere in the name of a family; at most one of the two is given.
    """

    host: str
    port: int
    telemetry_host: str
    telemetry_port: int
    kubeconfig: Path | None
    resources: tuple[str, ...]
    namespaces: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    allow: tuple[re.Pattern[str], ...]
    deny: tuple[re.Pattern[str], ...]

    def exposes(self, family: str) -> bool:
        """Whether the allow list or the deny list lets this family through."""
        if self.allow:
            return any(pattern.search(family) for pattern in self.allow)
        return not any(pattern.search(family) for pattern in self.deny)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        flags = ", ".join(sorted(name for name in self._option_string_actions if name.startswith("--")))
        raise OptionError(
            f"{message}; this stand-in for kube-state-metrics accepts {flags}: remove the flag or mend it"
        )


def parse(arguments: Sequence[str]) -> Options:
    """Options from the arguments after the program's name. Raises OptionError."""
    given = _parser().parse_args(arguments)
    resources = _resources(_words(given.resources))
    allow, deny = (
        _patterns("metric-allowlist", given.metric_allowlist),
        _patterns("metric-denylist", given.metric_denylist),
    )
    if allow and deny:
        raise OptionError("--metric-allowlist and --metric-denylist exclude each other: give one of them")
    return Options(
        host=given.host,
        port=_port("port", given.port),
        telemetry_host=given.telemetry_host,
        telemetry_port=_port("telemetry-port", given.telemetry_port),
        kubeconfig=Path(given.kubeconfig) if given.kubeconfig else None,
        resources=resources,
        namespaces=tuple(dict.fromkeys(_words(given.namespaces))),
        labels=_labels(given.metric_labels_allowlist, resources),
        allow=allow,
        deny=deny,
    )


def _parser() -> _Parser:
    parser = _Parser(prog="kube-state-metrics", allow_abbrev=False)
    parser.add_argument("--port", default="8080", help="port of the metrics")
    parser.add_argument("--host", default="::", help="address of the metrics")
    parser.add_argument("--telemetry-port", default="8081", help="port of the program's metrics about itself")
    parser.add_argument("--telemetry-host", default="::", help="address of the program's metrics about itself")
    parser.add_argument("--kubeconfig", default="", help="kubeconfig file; without it, the pod's service account")
    lists = {
        "resources": "resources to watch, by their plural names; without it, all that are known",
        "namespaces": "namespaces to watch; without it, all",
        "metric-allowlist": "names or expressions of the only families to expose",
        "metric-denylist": "names or expressions of families not to expose",
    }
    for name, text in lists.items():
        parser.add_argument(f"--{name}", action="append", default=[], metavar="A,B", help=text)
    parser.add_argument(
        "--metric-labels-allowlist",
        default="",
        metavar="RESOURCE=[KEY,KEY],…",
        help="label keys that the family of labels of a resource shows; `*` stands for every key or resource",
    )
    return parser


def _words(given: Sequence[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _port(flag: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _LARGEST_PORT):
        raise OptionError(
            f"--{flag}={text} is no port; accepted is a number from 0 to {_LARGEST_PORT}, 0 = any free one"
        )
    return int(text)


def _resources(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in RESOURCES:
            raise OptionError(f"--resources: {name} is not known to this stand-in; accepted are {', '.join(RESOURCES)}")
    return tuple(sorted(set(names) or RESOURCES))


def _patterns(flag: str, given: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    found = []
    for word in _words(given):
        try:
            found.append(re.compile(word))
        except re.error as error:
            raise OptionError(f"--{flag}: {word} is no regular expression ({error}): mend or remove it") from error
    return tuple(found)


def _labels(text: str, resources: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Resource → keys. As upstream, `*` as a resource stands for every one that is watched and hides the others."""
    found: dict[str, tuple[str, ...]] = {}
    for resource, keys in _allowed(text):
        known = resource in RESOURCES and RESOURCES[resource].labelled
        if resource != ALL and not known:
            accepted = ", ".join(name for name, kind in RESOURCES.items() if kind.labelled)
            raise OptionError(
                f"--metric-labels-allowlist: this stand-in has no labels of {resource}; accepted are {accepted} and *"
            )
        found[resource] = tuple(_words([keys]))
    if ALL in found:
        return {name: found[ALL] for name in resources if RESOURCES[name].labelled}
    return found


def _allowed(text: str) -> list[tuple[str, str]]:
    pairs, at = [], 0
    while at < len(text):
        found = _ALLOWED.match(text, at)
        if found is None or (found.end() < len(text) and (text[found.end()] != "," or found.end() + 1 == len(text))):
            raise OptionError(
                f"--metric-labels-allowlist={text} cannot be read from character {at + 1}; "
                "accepted is resource=[key,key],resource=[key]"
            )
        pairs.append((found[1].strip(), found[2]))
        at = found.end() + 1
    return pairs
