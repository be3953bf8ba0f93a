"""The pytest plugin of smoke: it decides what runs, and counts what ran.

pytest's exit code alone is not trusted: it is 0 for a suite whose checks were all skipped. The count alone is not
trusted either: it knows nothing of a crash. `smoke.verdict` wants both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smoke.access.errors import AccessError
from smoke.check import begin_of, check_id_of
from smoke.evidence import describe
from smoke.model import CheckFailedError, DeclaredSkipError, Impact, Status
from smoke.redact import bounded
from smoke.registry import IDENTITY
from smoke.skips import reason_to_skip

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping

    from smoke.model import Check
    from smoke.stack import Stack

Ended = tuple[Status, float, str]


class Accounting:
    """Runs identity first and nothing if it fails; records every check that was collected.

    registry: the known checks. capabilities: of the contract. impact: the heaviest allowed. only: ids to run, empty
    for all. ended: told of each check as it ends, as (id, status, seconds, evidence or reason).
    """

    def __init__(
        self,
        stack: Stack,
        registry: Mapping[str, Check],
        impact: Impact,
        only: Collection[str],
        ended: Callable[[str, Status, float, str], None],
    ) -> None:
        self.stack_under_test = stack
        self.registry = registry
        self.impact = impact
        self.only = frozenset(only)
        self.ended = ended
        self.collected: list[str] = []
        self.results: dict[str, Ended] = {}
        self.faults: list[str] = []
        self.interrupted = False
        self._identified = False
        self._evidence: dict[str, str] = {}
        self._declared: set[str] = set()
        self._chosen: list[pytest.Item] = []
        self._phases: dict[str, list[pytest.TestReport]] = {}

    @pytest.fixture(scope="session")
    def stack(self) -> Stack:
        """The stack under test."""
        return self.stack_under_test

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self.faults.append(
                f"collecting {report.nodeid or 'the suite'} {report.outcome}: {bounded(str(report.longrepr))}"
            )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        known = [item for item in self._known(items) if self._in_scope(self.registry[_id(item)])]
        self.collected = [_id(item) for item in known]
        chosen = [item for item in known if not self.only or _id(item) in self.only | {IDENTITY}]
        # Stable: within a group the order of the suite stays.
        # What reads goes first, while that which was begun early takes its time; what kills goes last.
        chosen.sort(key=lambda item: (_id(item) != IDENTITY, list(Impact).index(self.registry[_id(item)].impact)))
        self._chosen = chosen
        left_out = [item for item in items if item not in chosen]
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if self._identified or _id(item) == IDENTITY:
            return None
        self._end(_id(item), (Status.NOT_RUN, 0.0, "the identity of the cluster is not proven"))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        reason = self._reason_to_skip(item)
        if reason:
            self._declare(item, reason)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        names = pyfuncitem._fixtureinfo.argnames
        try:
            told = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
        except DeclaredSkipError as skip:
            if not self.registry[_id(pyfuncitem)].may_skip:
                raise
            self._declare(pyfuncitem, str(skip))
        if not isinstance(told, str) or not told:
            raise TypeError("a check must return what it saw, in words; this one proved nothing")
        self._evidence[pyfuncitem.nodeid] = bounded(told)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        declared_skip = report.skipped and item.nodeid in self._declared
        if call.excinfo is not None and not declared_skip:
            self._evidence[item.nodeid] = describe(call.excinfo.value, call.excinfo.traceback)
        if call.excinfo is None or declared_skip:
            report.user_properties.append(("as_planned", "yes"))
        report.user_properties.append(("check", _id(item)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            self._end(str(dict(report.user_properties)["check"]), self._judge(report.nodeid, phases))
            self.stack_under_test.advance()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # pytest's own reasons to stop, such as an error in collection, are subclasses: no person interrupted it.
        if type(excinfo.value) is KeyboardInterrupt:
            self.interrupted = True
        else:
            self.faults.append(f"the suite was stopped from inside: {excinfo.value}")

    def pytest_internalerror(self, excrepr: object) -> None:
        self.faults.append(f"pytest failed internally: {bounded(str(excrepr))}")

    def _in_scope(self, check: Check) -> bool:
        """Checks heavier than this run allows are not part of it, unless the contract wants them accounted for."""
        return not check.impact.exceeds(self.impact) or check.id in self.stack_under_test.contract.expected_checks

    def _known(self, items: list[pytest.Item]) -> list[pytest.Item]:
        known: dict[str, pytest.Item] = {}
        for item in items:
            check_id = check_id_of(getattr(item, "obj", None))
            if check_id is None:
                self.faults.append(f"{item.nodeid} carries no check id, so nothing accounts for it")
            elif check_id not in self.registry:
                self.faults.append(f"{item.nodeid} carries the id {check_id!r}, which is not in the registry")
            elif check_id in known:
                self.faults.append(f"{item.nodeid} repeats the id {check_id!r} of {known[check_id].nodeid}")
            else:
                known[check_id] = item
        return list(known.values())

    def _judge(self, nodeid: str, phases: list[pytest.TestReport]) -> Ended:
        seconds = sum(phase.duration for phase in phases)
        evidence = self._evidence.get(nodeid, "")
        unplanned = [p for p in phases if ("as_planned", "yes") not in p.user_properties or hasattr(p, "wasxfail")]
        if any(phase.failed for phase in phases) or unplanned:
            skipped = any(phase.skipped for phase in unplanned)
            return Status.FAIL, seconds, f"skipped without being declared: {evidence}" if skipped else evidence
        if any(phase.skipped for phase in phases):
            return Status.SKIP, seconds, evidence
        return Status.PASS, seconds, evidence

    def _end(self, check_id: str, result: Ended) -> None:
        self.results[check_id] = result
        self.ended(check_id, *result)
        if check_id == IDENTITY and result[0] is Status.PASS:
            self._identified = True
            self._begin_early()

    def _begin_early(self) -> None:
        for item in self._chosen:
            begin = begin_of(getattr(item, "obj", None))
            if begin is None or self._reason_to_skip(item):
                continue
            try:
                begin(self.stack_under_test)
            except (AccessError, CheckFailedError, DeclaredSkipError):
                # The check itself begins again, and then tells why it could not.
                continue

    def _reason_to_skip(self, item: pytest.Item) -> str | None:
        return reason_to_skip(self.registry[_id(item)], self.stack_under_test.contract.capabilities, self.impact)

    def _declare(self, item: pytest.Item, reason: str) -> None:
        self._evidence[item.nodeid] = reason
        self._declared.add(item.nodeid)
        pytest.skip(reason)


def _id(item: pytest.Item) -> str:
    return str(check_id_of(getattr(item, "obj", None)))
