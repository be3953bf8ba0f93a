"""Whose lower log levels are kept until when: the agents' second configuration file, which ends by itself.

The file replaces one condition of the first. Each exception in it carries its end and is compared with the clock for
every record, so that nobody has to take it out again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from components.errors import DeployError
from components.otel_collector.names import debug_config
from components.otel_collector.parts import literal, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from components.objects import Manifest

FILTER: Final = "filter/level"
LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_GENERATED: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""Characters that Kubernetes makes names of, which spell no words."""
_WINDOW: Final = re.compile(
    r'resource\.attributes\["k8s\.namespace\.name"\] == "(?P<namespace>[^"]+)" and '
    r'\(resource\.attributes\["workload"\] == "(?P<workload>[^"]+)" or .+?\) and '
    r"UnixSeconds\(Now\(\)\) < (?P<until>\d+)"
)


class ForeignError(DeployError):
    """The file is not one that was written here."""


@dataclass(frozen=True, kw_only=True, order=True)
class Window:
    """Lower levels of one workload until a time. workload: its Deployment's, Job's … name, or attribute `workload`.

    until: seconds since 1970, UTC; from then on it changes nothing.
    """

    namespace: str
    workload: str
    until: int

    def __post_init__(self) -> None:
        """Raises DeployError for what is no name."""
        for what, value in (("namespace", self.namespace), ("workload", self.workload)):
            if not _NAME.fullmatch(value):
                raise DeployError(f"debug window: {what} is {value!r}; accepted is a name as Kubernetes has it")
        if self.until <= 0:
            raise DeployError(f"debug window: until is {self.until}; accepted are seconds since 1970")


def level_filter(lowest: str, windows: Iterable[Window] = ()) -> Manifest:
    """The processor that drops records below a level. lowest: one of LEVELS. Those that have no level stay.

    A condition that fails keeps the record.
    """
    return {"error_mode": "ignore", "logs": {"log_record": [_condition(lowest, windows)]}}


def fragment(lowest: str, windows: Iterable[Window] = ()) -> str:
    """The second configuration file. Without windows it says what the first says."""
    return text_of({"processors": {FILTER: level_filter(lowest, windows)}})


def parse(text: str, lowest: str) -> tuple[Window, ...]:
    """The windows of a file that `fragment` wrote.

    Raises ForeignError for any other text: what is not understood would be lost with the next change.
    """
    try:
        condition = yaml.safe_load(text)["processors"][FILTER]["logs"]["log_record"][0]
        found = tuple(
            Window(namespace=one["namespace"], workload=one["workload"], until=int(one["until"]))
            for one in _WINDOW.finditer(condition)
        )
    except (yaml.YAMLError, LookupError, TypeError) as error:
        raise ForeignError(_foreign(lowest)) from error
    if fragment(lowest, found) != text:
        raise ForeignError(_foreign(lowest))
    return found


def opened(windows: Iterable[Window], window: Window, now: float) -> tuple[Window, ...]:
    """With one more window, which replaces that of the same workload; without those that have ended.

    now: seconds since 1970.
    """
    others = (one for one in windows if (one.namespace, one.workload) != (window.namespace, window.workload))
    return tuple(sorted((*running(others, now), window)))


def running(windows: Iterable[Window], now: float) -> tuple[Window, ...]:
    """Those that have not ended. now: seconds since 1970."""
    return tuple(sorted(one for one in windows if one.until > now))


def is_of(workload: str, pod: str) -> bool:
    """Whether a window of this workload means a pod of this name."""
    return re.match(_pods(workload), pod) is not None


def _foreign(lowest: str) -> str:
    return (
        f"the file of debug windows is not one that was written for lowest_level {lowest}: it was changed by hand or "
        f"is of another release; `make up` writes the ConfigMap {debug_config(lowest)} anew, without windows, and "
        "starts the agents again"
    )


def _condition(lowest: str, windows: Iterable[Window]) -> str:
    if lowest not in LEVELS:
        raise DeployError(f"lowest_level is {lowest!r}; accepted are {', '.join(LEVELS)}")
    base = f"severity_number != SEVERITY_NUMBER_UNSPECIFIED and severity_number < SEVERITY_NUMBER_{lowest}"
    kept = " or ".join(f"({_window(one)})" for one in windows)
    return f"{base} and not ({kept})" if kept else base


def _window(window: Window) -> str:
    pods = literal(_pods(window.workload))
    return (
        f'resource.attributes["k8s.namespace.name"] == {literal(window.namespace)} and '
        f'(resource.attributes["workload"] == {literal(window.workload)} or '
        f'IsMatch(resource.attributes["k8s.pod.name"], {pods})) and '
        f"UnixSeconds(Now()) < {window.until}"
    )


def _pods(workload: str) -> str:
    """Names of pods that a Deployment, StatefulSet, DaemonSet, Job or CronJob of that name has, or itself.

    The generated parts have no vowels: `api` does not mean the pods of `api-server`.
    """
    name = workload.replace(".", "[.]")
    return rf"^{name}(-[0-9]+)?(-{_GENERATED}{{1,10}})?(-{_GENERATED}{{5}})?$"
