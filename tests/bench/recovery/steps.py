"""The program's steps, the same for every store, and how what they restored is held against the source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from tests.bench.errors import BenchError
from tests.bench.recovery.figures import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.recovery.cost import Ended
    from tests.bench.recovery.figures import Measured
    from tests.bench.recovery.plan import Plan
    from tests.bench.recovery.site import Site

FIRST, AGAIN, VERIFY, RESTORE = (
    "create, the first point",
    "create again, nothing changed",
    "verify",
    "restore, compare",
)
Content = dict[str, Any]
"""What is held against each other: name of a table or key → what tells that its content is the same."""
_NAMED: Final = 3


class Meanwhile(Protocol):
    """Called between two steps, with the store's name and what has been done. Tests do damage here."""

    def __call__(self, moment: str, site: Site) -> None: ...


def nothing(moment: str, site: Site) -> None:
    """What happens meanwhile in a bench."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every store is measured with. say: told how far it is."""

    plan: Plan
    site: Site
    say: Callable[[str], None]
    meanwhile: Meanwhile


class Store(Protocol):
    """One store of the bench."""

    @property
    def name(self) -> str:
        """In the configuration and in the report."""
        ...

    def fill(self) -> None:
        """Make the data."""
        ...

    def measure(self) -> Measured:
        """All steps, the program's first."""
        ...


def taken(bench: Bench, asked: str, section: Mapping[str, Any]) -> tuple[Step, Step, str]:
    """A point, another one of the same data, and the name of that. Raises BenchError if there is none."""
    config, point = bench.site.config(stores=[section]), ""
    found = []
    for name in (FIRST, AGAIN):
        bench.say(f"    {section['name']}: {name}")
        ended = bench.site.program(asked, config, "create")
        why, facts = refused(ended), _facts(ended)
        if why:
            raise BenchError(f"{section['name']}: {name}: {'; '.join(why)}")
        point = str(facts["point"])
        found.append(Step(name=name, ours=True, cost=ended.cost, sent=int(facts["sent"])))
    bench.meanwhile(f"{section['name']} taken", bench.site)
    return found[0], found[1], point


def verified(bench: Bench, asked: str, scratch: list[Mapping[str, Any]], point: str) -> Step:
    """A point, restored into `scratch` and compared; read back where that is empty."""
    bench.say(f"    {VERIFY} {point}")
    ended = bench.site.program(asked, bench.site.config(scratch=scratch), "verify", "--point", point)
    return Step(name=VERIFY, ours=True, cost=ended.cost, problems=refused(ended))


def refused(ended: Ended) -> tuple[str, ...]:
    """Why a run of the program is no good; empty if it is."""
    if ended.code == 0:
        return ()
    facts = _facts(ended)
    return tuple(facts.get("differences") or (facts.get("error") or f"it ended with {ended.code}: {ended.said}",))


def differences(wanted: Content, found: Content) -> tuple[str, ...]:
    """What of a copy is not as it is in the source, by the bench's own measure and not by the program's."""
    wrong = [name for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)]
    shown = [f"{name} is {found.get(name)}, the source has {wanted.get(name)}" for name in wrong[:_NAMED]]
    return tuple(shown if len(wrong) <= _NAMED else [*shown, f"{len(wrong) - _NAMED} more differ"])


def worked(ended: Ended, what: str) -> Ended:
    """Raises BenchError with its words unless a raw tool ended with 0."""
    if ended.code != 0:
        raise BenchError(f"{what} ended with {ended.code}:\n{ended.said}")
    return ended


def with_problems(step: Step, more: tuple[str, ...]) -> Step:
    """The same with more problems."""
    return Step(name=step.name, ours=step.ours, cost=step.cost, sent=step.sent, problems=(*step.problems, *more))


def _facts(ended: Ended) -> dict[str, Any]:
    lines = ended.output.splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
