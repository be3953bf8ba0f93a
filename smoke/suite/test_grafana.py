"""Grafana itself: what it lets in, what it was given, and what its panels get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke import boards, grafana, limits
from smoke.access.errors import AccessError
from smoke.access.grafana import LockedError
from smoke.check import check
from smoke.judge import boards as panels
from smoke.judge import grafana as judge
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.dashboards.model import Board, Panel
    from smoke.boards import Span
    from smoke.stack import Stack

Json = dict[str, Any]
_CLOSED: Final = ("/api/search", "/api/datasources", "/", "/dashboards")
"""What a stranger must not see: an answer of each kind, data and pages."""
_SLOWEST: Final = 5


@check("grafana.health")
def test_grafana_health(stack: Stack) -> str:
    image = grafana.image(stack)
    told: list[str] = []

    def probe() -> list[Problem]:
        reply = stack.grafana.stranger("/api/health")
        told[:] = [str(reply.found.get("version"))] if isinstance(reply.found, dict) else []
        return judge.well(reply, image)

    stack.settle(probe, limits.QUICK)
    return f"Grafana {told[0]}, database ok"


@check("grafana.closed")
def test_grafana_closed(stack: Stack) -> str:
    """The password of an earlier generation is nowhere to be read; that it is refused follows, see judge.refused."""
    _unlocked(stack)

    def probe() -> list[Problem]:
        problems = judge.strangers({path: stack.grafana.stranger(path) for path in _CLOSED})
        try:
            settings = stack.grafana.read("/api/frontend/settings", dict)
            problems += judge.doors(settings, stack.grafana.email)
        except LockedError:
            raise
        except AccessError as error:
            problems.append(Problem(error.subject, str(error), "the password that the contract names, and no other"))
        return problems + judge.refused(stack.grafana.refusals())

    stack.settle(probe, limits.QUICK)
    return (
        f"{len(_CLOSED)} addresses are closed to strangers, sign-up is off; the password of the Secret is accepted; "
        f"refused: {', '.join(stack.grafana.refusals())}, and so whatever it was before"
    )


@check("grafana.datasources")
def test_grafana_datasources(stack: Stack) -> str:
    promised = grafana.promised(stack).datasources
    _unlocked(stack)

    def probe() -> list[Problem]:
        listed = stack.grafana.read("/api/datasources", list)
        problems = judge.datasources(promised, listed)
        there = {one.get("uid") for one in listed}
        for source in promised:
            if source.uid in there:
                problems += judge.answering(source, grafana.health(stack, source))
        return problems

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{one.name}, {one.type}: {one.uid} at {one.url} answers" for one in promised)


@check("grafana.boards")
def test_grafana_boards(stack: Stack) -> str:
    promised = grafana.promised(stack)
    known = {board.uid: board for board in boards.of_contract(stack.contract)}
    _unlocked(stack)

    def probe() -> list[Problem]:
        found = {uid: grafana.board(stack, uid) for uid in promised.boards}
        return judge.boards(promised, known, stack.grafana.listed(), found)

    stack.settle(probe, limits.TARGETS)
    return "\n".join(
        f"{known[uid].title if uid in known else uid}: provisioned as rendered, {digest[:12]}"
        for uid, digest in promised.boards.items()
    )


@check("grafana.panels")
def test_grafana_panels(stack: Stack) -> str:
    """A panel that has once answered is not asked again: what is missing on a young stack is awaited."""
    promised = grafana.promised(stack).boards
    found = [board for board in boards.of_contract(stack.contract) if board.uid in promised]
    pending = [(board, panel) for board in found for panel in board.panels]
    took: dict[str, float] = {}
    _unlocked(stack)

    def probe() -> list[Problem]:
        span, problems, left = boards.now(stack), panels.some(found), []
        copies = {board.uid: _panels(stack, board) for board, _ in pending}
        for board, panel in pending:
            wrong, seconds = _ask(stack, board, panel, copies[board.uid], span)
            took[f"{board.title}: {panel.title}"] = seconds
            problems += wrong
            left += [(board, panel)] if wrong else []
        pending[:] = left
        return problems

    stack.settle(probe, limits.RULES)
    slowest = sorted(took.items(), key=lambda one: -one[1])[:_SLOWEST]
    told = f"{len(took)} panels of {len(found)} boards answered through Grafana in {sum(took.values()):.1f} s"
    return "\n".join([told, *(f"{seconds:.2f} s {name}" for name, seconds in slowest)])


def _panels(stack: Stack, board: Board) -> dict[str, Json]:
    """Title → panel, of Grafana's own copy of a board: none if there is no copy."""
    copy = grafana.board(stack, board.uid)
    return {str(one.get("title")): one for one in grafana.panels((copy or {}).get("dashboard") or {})}


def _ask(stack: Stack, board: Board, panel: Panel, copy: dict[str, Json], span: Span) -> tuple[list[Problem], float]:
    """What is wrong with a panel, and how many seconds it took."""
    shown = copy.get(panel.title)
    if shown is None:
        return [Problem(f"{board.title}: {panel.title}", "no such panel in Grafana", "its answer")], 0.0
    answers = grafana.ask(stack, board, panel, shown, span)
    return panels.panel(board, panel, answers), sum(answer.seconds for answer in answers)


def _unlocked(stack: Stack) -> None:
    """Await the end of a lock; whatever else keeps Grafana from answering is told by the check itself."""

    def probe() -> list[Problem]:
        try:
            stack.grafana.sign_in()
        except LockedError as error:
            return [Problem(error.subject, str(error), "no lock")]
        except AccessError:
            return []
        return []

    stack.settle(probe, limits.GRAFANA_LOCK)
