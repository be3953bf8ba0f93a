"""What a drill speaks of: what was sent and acknowledged, what was read of the restored SwanLab, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smoke.sdk.model import LoggedRun, ReadBack

PROJECT: Final = "plumbline-drill"
PREFIX: Final = "drill-"
SDK_SUFFIX: Final = "-sdk"
SCALARS: Final = ("drill/a", "drill/b")
IMAGE: Final = "drill/image"


@dataclass(frozen=True)
class KeyMark:
    """By this a key is known again that nobody can read out of it. salt, digest: hexadecimal, of scrypt."""

    salt: str
    digest: str


@dataclass(frozen=True)
class Begin:
    """First line of a journal. run: of the timed series. sdk_run: of the SDK. project: without its workspace.

    workspace: account that the key belongs to.
    """

    run: str
    sdk_run: str
    project: str
    workspace: str
    key: KeyMark


@dataclass(frozen=True)
class Sent:
    """One request of the timed run. at, acked: Unix time; acked is None where no acknowledgement came.

    values: key → repr of the float. files: key → sha256 of the file, hexadecimal.
    """

    number: int
    step: int
    at: float
    values: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    acked: float | None = None


@dataclass(frozen=True)
class SdkRun:
    """The run of the SDK, once all of it was read back from the source. began, proven: Unix time.

    odd: how NaN comes back from this SDK, a key of smoke.judge.experiments.ODD.
    """

    began: float
    proven: float
    odd: str
    run_id: str
    run: LoggedRun


@dataclass(frozen=True)
class Journal:
    """All that a journal says. run_id: of the timed run, empty if it was never made. ended: `write` came to its end."""

    begin: Begin | None = None
    run_id: str = ""
    sdk: SdkRun | None = None
    sent: tuple[Sent, ...] = ()
    ended: bool = False


def ids(journal: Journal) -> dict[str, str]:
    """Name → id of both runs; an empty id for one that was never made, or never proven."""
    if journal.begin is None:
        return {}
    return {journal.begin.run: journal.run_id, journal.begin.sdk_run: journal.sdk.run_id if journal.sdk else ""}


@dataclass(frozen=True)
class Asked:
    """When what happened, in Unix time. window: seconds before the point in which an acknowledged value may be late.

    beside: the restored SwanLab is not the one that was written to, so that nothing sent after the disaster is in it.
    """

    disaster: float
    point_started: float | None = None
    window: float = 0.0
    beside: bool = False

    @property
    def kept_until(self) -> float | None:
        """What was acknowledged until then must be in the restore point; None where nobody said when it began."""
        return None if self.point_started is None else self.point_started - self.window


@dataclass(frozen=True)
class Read:
    """What was read of one run. series: key → (step, value as text). files: key → (step, sha256).

    The sha256 is None where the server knows a file whose bytes are not there.
    """

    series: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    files: Mapping[str, tuple[tuple[int, str | None], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Restored:
    """What was read of the restored SwanLab. login: the key lets in. old_key: it is the one of the journal.

    runs: name → id of those in the list of the project. timed, sdk: None where the run is not there. whole: the
    SDK's run as smoke compares it. refused: in words, what the server definitely refuses to give.
    """

    login: bool
    old_key: bool = False
    runs: Mapping[str, str] = field(default_factory=dict)
    timed: Read | None = None
    sdk: Read | None = None
    whole: ReadBack | None = None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The verdict with its figures. document: as JSON. Green needs that no reason was found."""

    document: Mapping[str, Any]
    reasons: tuple[str, ...]

    @property
    def green(self) -> bool:
        """Whether nothing speaks against the restored SwanLab."""
        return not self.reasons
