"""The programs that a drill starts accept its words, and say what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli import clients, drill_hands, drill_report, recovery
from cli.drill_hands import Hands
from cli.drill_state import Book, State
from cli.drill_writer import WINDOW
from cli.recovery import Outcome
from recovery.arguments import parse
from smoke.drill.main import _parser
from smoke.drill.model import Asked, Journal, Restored
from smoke.drill.verdict import judge
from tests.offline.cli.drill_facts import POINT, contract
from tests.offline.cli.fakes import write

if TYPE_CHECKING:
    from pathlib import Path

    from cli.engine import Engine

STATE = State(
    source="local",
    destroy=False,
    journal="journal",
    began=1_000_000.0,
    point=POINT,
    point_began=1_000_000.25,
    disaster=1_000_100.5,
    phase="promoted",
)


@pytest.fixture
def hands(local: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hands:
    """Hands whose programs are not started."""
    write(local.config_file, "config:\n  plumbline:cluster:\n    kubeconfig: /k/config\n")
    monkeypatch.setattr(Hands, "_environment", lambda _: {})
    return Hands(local, clients.Kubectl((), {}), Book(tmp_path))


def test_judge_is_told_what_happened_when(hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def note(argv: list[str], **_: object) -> Any:  # noqa: ANN401  # stands for an ended process
        started.append(argv)
        hands.judged.write_text("{}")
        return type("Done", (), {"returncode": 1})

    monkeypatch.setattr("cli.drill_hands.subprocess.run", note)
    assert hands.judge(STATE, tmp_path / "restored.json") == 1
    (argv,) = started
    assert argv[1:3] == ["-m", "smoke.drill"]
    options = _parser().parse_args(argv[3:])
    assert (options.disaster, options.point_started, options.window) == (1_000_100.5, 1_000_000.25, WINDOW)
    assert (options.contract, options.source_contract) == (tmp_path / "restored.json", tmp_path / "source.json")
    assert (str(options.kubeconfig), options.journal) == ("/k/config", tmp_path / "journal")


def test_runs_are_deleted_from_the_source(hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def note(argv: list[str], **_: object) -> Any:  # noqa: ANN401  # stands for an ended process
        started.append(argv)
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr("cli.drill_hands.subprocess.run", note)
    assert hands.clean(STATE) == 0
    assert started == [], "nothing was written"
    write(tmp_path / "journal" / "journal.jsonl", "")
    assert hands.clean(STATE) == 0
    options = _parser().parse_args(started[0][3:])
    assert (options.contract, options.journal) == (tmp_path / "source.json", tmp_path / "journal")


def test_writer_is_started_with_words_that_it_knows(
    hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(
        drill_hands, "Writer", lambda words, _, journal: started.append([*words, "--journal", str(journal)])
    )
    hands.writer(STATE)
    options = _parser().parse_args(["write", *started[0]])
    assert (options.contract, options.journal) == (tmp_path / "source.json", tmp_path / "journal")
    assert options.cache == hands.engine.home.cache / "sdk"


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("create", "--mode", "online"), "plumbline-swanlab"),
        (("verify", "--point", POINT), "plumbline-recovery"),
        (("restore", "--point", POINT), "plumbline-swanlab"),
        (("promote", "--point", POINT, "--quiesce", "--force"), "plumbline-swanlab"),
        (("confirm",), "plumbline-swanlab"),
    ],
)
def test_words_of_a_drill_are_words_of_the_program(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], where: str
) -> None:
    def ended(_: object, job: dict[str, str], said: tuple[str, ...]) -> Outcome:
        assert job["namespace"] == where
        assert parse(["--config", "c", "--json", *said]).word == words[0]
        return Outcome(0, {"code": 0})

    monkeypatch.setattr(recovery, "outcome_of", ended)
    assert hands.word(contract(), *words) == {"code": 0}


def test_report_is_made_of_what_judge_says() -> None:
    judged = dict(judge(Journal(), Restored(login=False), Asked(1_000_100.5)).document)
    found = drill_report.document(State(**{**STATE.__dict__, "verdict": 1}), contract(), judged, 0)
    assert found["verdict"] == "red"
    assert "refused" in drill_report.table(found)
