"""The report as JUnit XML: one test case per check, and one per fault of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from smoke.model import Status
from smoke.printable import printable
from smoke.redact import bounded

if TYPE_CHECKING:
    from smoke.model import Outcome, Run


def render(run: Run) -> str:
    """The document as text, with its XML declaration. Boards judge nothing, so they are no test cases."""
    suite = Xml.Element("testsuite", name=f"smoke {run.stack}", timestamp=run.started, time=f"{run.seconds:.3f}")
    for outcome in run.outcomes:
        _case(suite, outcome)
    for fault in [*run.faults, *(["the run was interrupted"] if run.interrupted else [])]:
        _add(_test(suite, "smoke.run", "fault of the run", 0.0), "error", "fault of the run", bounded(fault))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("./testcase/failure"))))
    suite.set("errors", str(len(suite.findall("./testcase/error"))))
    suite.set("skipped", str(len(suite.findall("./testcase/skipped"))))
    root = Xml.Element("testsuites")
    root.append(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(suite: Xml.Element, outcome: Outcome) -> None:
    case = _test(suite, f"smoke.{outcome.requirement}", outcome.id, outcome.seconds)
    if outcome.status is Status.FAIL:
        _add(case, "failure", outcome.claim, f"{outcome.evidence}\nwhat to do: {outcome.remedy}")
    elif outcome.status is Status.NOT_RUN:
        _add(case, "error", "not run", outcome.evidence)
    elif outcome.status is Status.SKIP:
        _add(case, "skipped", outcome.skip_reason, "")
    else:
        _add(case, "system-out", "", outcome.evidence)


def _test(suite: Xml.Element, group: str, name: str, seconds: float) -> Xml.Element:
    return Xml.SubElement(suite, "testcase", classname=printable(group), name=printable(name), time=f"{seconds:.3f}")


def _add(case: Xml.Element, kind: str, message: str, text: str) -> None:
    element = Xml.SubElement(case, kind, {"message": printable(message)} if message else {})
    element.text = printable(text)
