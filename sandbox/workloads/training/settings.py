"""What a run is started with: environment variables alone, as a training pod has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.workloads.training import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "TRAINING_"
MOST_RANKS: Final = 64
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class SettingsError(ValueError):
    """A variable that is wrong: which one, what is accepted."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """identity: keys as on metrics, `run_id` among them. step_seconds: of a step that nothing slows down.

    first_rank: of this pod, where a run has several. control: host and port, None for none. host: SwanLab's address,
    "" to log nowhere. otlp: whether spans are sent. finish_seconds: that SwanLab has to end the run.
    """

    identity: Mapping[str, str]
    steps: int = 60
    step_seconds: float = 1.0
    ranks: int = 1
    first_rank: int = 0
    seed: int = 0
    project: str = "training"
    control: tuple[str, int] | None = None
    host: str = ""
    otlp: bool = False
    finish_seconds: float = 30.0

    @property
    def run_id(self) -> str:
        """Of the run that all its pods share."""
        return self.identity["run_id"]


def parse(environment: Mapping[str, str]) -> Settings:
    """Settings of TRAINING_*, SWANLAB_API_HOST and OTEL_EXPORTER_OTLP_ENDPOINT. Raises SettingsError."""
    identity = {key: text for key in IDENTITY if (text := environment.get(PREFIX + key.upper(), ""))}
    for key, text in identity.items():
        if not _NAME.fullmatch(text):
            raise SettingsError(f"{PREFIX}{key.upper()} is {text!r}; accepted is what a pod's label takes")
    if "run_id" not in identity:
        raise SettingsError(f"{PREFIX}RUN_ID is not set; accepted is the run's name, as on the pod's label")
    return Settings(
        identity=identity,
        steps=_whole(environment, "STEPS", 60, 1, 1_000_000),
        step_seconds=_seconds(environment, "STEP_SECONDS", 1.0),
        ranks=_whole(environment, "RANKS", 1, 1, MOST_RANKS),
        first_rank=_whole(environment, "FIRST_RANK", 0, 0, 1_000_000),
        seed=_whole(environment, "SEED", 0, 0, 2**31),
        project=environment.get(PREFIX + "PROJECT") or "training",
        control=_address(environment.get(PREFIX + "CONTROL", "127.0.0.1:9402")),
        host=environment.get("SWANLAB_API_HOST", ""),
        otlp=bool(environment.get("OTEL_EXPORTER_OTLP_ENDPOINT")),
        finish_seconds=_seconds(environment, "FINISH_SECONDS", 30.0),
    )


def _whole(environment: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = environment.get(PREFIX + name) or str(default)
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise SettingsError(f"{PREFIX}{name} is {text!r}; accepted is a whole number from {low} to {high}")
    return int(text)


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(PREFIX + name) or str(default)
    longest = 3600.0
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= longest:
        raise SettingsError(f"{PREFIX}{name} is {text!r}; accepted are seconds above 0, up to {longest:.0f}")
    return found


def _address(text: str) -> tuple[str, int] | None:
    if text in ("", "none"):
        return None
    host, colon, port = text.rpartition(":")
    largest = 65535
    if not colon or not host or not (port.isascii() and port.isdigit() and int(port) <= largest):
        raise SettingsError(f"{PREFIX}CONTROL is {text!r}; accepted is <host>:<port>, and none")
    return host.strip("[]"), int(port)
