"""Both commands as a drill calls them: written into one SwanLab, judged in another."""

from __future__ import annotations

import base64
import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from smoke.drill import main as command
from smoke.drill import timed
from smoke.drill.errors import JournalError
from smoke.drill.journal import NAME
from smoke.drill.journal_reader import read
from smoke.drill.main import main
from smoke.drill.times import stamp
from tests.offline.smoke.drill.written import WrittenSwanLab
from tests.offline.smoke.fake_swanlab import CUT, KEY, USER, served
from tests.offline.smoke.lab import BASE, SPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smoke.drill.model import Journal
    from tests.offline.smoke.fake_swanlab import Answer, Request
    from tests.offline.smoke.lab import Lab

Json = dict[str, Any]


class _Late:
    """Serves a state that is known only after its address is."""

    state: WrittenSwanLab

    def answer(self, request: Request) -> Answer:
        return self.state.answer(request)


class Drill:
    """A source, a restored SwanLab, and the commands."""

    def __init__(self, lab: Lab, source: WrittenSwanLab, restored: _Late, addresses: tuple[str, str]) -> None:
        self.lab, self.source, self._restored, self.addresses = lab, source, restored, addresses
        self.directory: Path = lab.world.directory
        self.journal = self.directory / "journal"
        self.out = self.directory / "verdict.json"
        self.contracts = {name: self.directory / f"{name}.json" for name in ("source", "restored")}
        for (name, path), address in zip(self.contracts.items(), addresses, strict=True):
            self.write_contract(name, path, address)

    @property
    def restored(self) -> WrittenSwanLab:
        """The restored SwanLab."""
        return self._restored.state

    def write_contract(self, name: str, path: Path, address: str) -> None:
        """The restored stack has a Secret of another name."""
        document = self.lab.contract()
        document["components"]["swanlab"]["endpoints"]["http"]["url"] = address
        if name == "restored":
            document["experiments"]["login"] = {"namespace": SPACE, "name": "other-api-key", "key": "api-key"}
        path.write_text(json.dumps(document))

    def write(self, requests: int = 6) -> int:
        """Write until so many requests of points were seen."""
        self.source.stop_after = requests
        cache = self.directory / "home" / "cache" / "sdk"
        code = main(["write", *self._common("source"), "--cache", str(cache)])
        self._restored.state = self.source.restored()
        return code

    def judge(self, *more: str) -> tuple[int, Json]:
        """Judge now; gives exit code and verdict, an empty one where there is no file."""
        argv = ["--source-contract", str(self.contracts["source"]), "--disaster", stamp(time.time())]
        code = main(["judge", *self._common("restored"), *argv, "--out", str(self.out), *more])
        return code, json.loads(self.out.read_text()) if self.out.exists() else {}

    def read(self) -> Journal:
        """The journal."""
        return read(self.journal)

    def secret(self, name: str, key: str | None) -> None:
        """Set a Secret of SwanLab's namespace, or remove it."""
        held = self.lab.world.api.objects
        held.pop(f"{BASE}/secrets/{name}", None)
        if key is not None:
            held[f"{BASE}/secrets/{name}"] = {"data": {"api-key": base64.b64encode(key.encode()).decode()}}

    def _common(self, contract: str) -> list[str]:
        own = ["--contract", str(self.contracts[contract]), "--kubeconfig", str(self.lab.world.kubeconfig)]
        return [*own, "--journal", str(self.journal)]


@pytest.fixture
def drill(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drill]:
    """Everything healthy; the signals of this process are given back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(timed, "FINISH_WITHIN", 0.0)
    monkeypatch.setattr(timed.Timed.__init__, "__defaults__", (0.01,))
    monkeypatch.setattr(timed.Timed.finish, "__defaults__", (0.0,))
    source, restored = WrittenSwanLab(), _Late()
    restored.state = WrittenSwanLab()
    with served(source) as first, served(restored) as second:
        source.base = first
        made = Drill(lab, source, restored, (first, second))
        yield made
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def written(drill: Drill) -> Drill:
    """A drill whose source was written to."""
    assert drill.write() == 0
    drill.restored.base = drill.addresses[1]
    return drill


def test_what_is_written_is_judged_green(written: Drill) -> None:
    journal = written.read()
    assert journal.begin is not None
    assert (journal.begin.workspace, journal.begin.project, journal.ended) == (USER, "plumbline-drill", True)
    assert journal.sdk is not None
    assert sum(len(points) for points in journal.sdk.run.logged.values()) == 4 * 200 + 6
    assert written.source.named().state == "FINISHED"
    # Six requests: the numbers of five steps, and the image of the first.
    assert [len(sent.values) for sent in journal.sent] == [2, 0, 2, 2, 2, 2]
    assert all(sent.acked is not None and sent.acked >= sent.at for sent in journal.sent)
    code, found = written.judge()
    assert (code, found["verdict"], found["reasons"]) == (0, "green", [])
    assert (found["values_equal"], found["media_equal"], found["rpo_seconds"]) == (806 + 10, 7, 0.0)
    assert (found["login"], found["old_key"], found["key_of"]) == (True, True, "source")
    assert found["runs_found"] == sorted([journal.begin.run, journal.begin.sdk_run])


def test_no_file_has_the_key(written: Drill) -> None:
    written.judge()
    assert KEY not in (written.journal / NAME).read_text()
    assert KEY not in written.out.read_text()


@pytest.mark.parametrize("answer", [(503, b"no"), (403, b"no"), (CUT, b"")])
def test_what_was_refused_is_not_acknowledged(drill: Drill, answer: tuple[int, bytes]) -> None:
    """The third request of points: the numbers of step 1."""
    drill.source.refuses = {3: answer}
    assert drill.write() == 0
    assert [sent.step for sent in drill.read().sent if sent.acked is None] == [1]


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_not_acknowledged_may_be_there_or_not(drill: Drill, *, kept: bool) -> None:
    drill.source.refuses, drill.source.keeps_refused = {3: (503, b"no")}, kept
    assert drill.write() == 0
    drill.restored.base = drill.addresses[1]
    code, found = drill.judge()
    assert (code, found["values_acknowledged"], found["values_equal"]) == (0, 806 + 8, 806 + 8)


def _lose_a_step(drill: Drill) -> None:
    drill.restored.named().points["drill/a"].pop(1)


def _alter_a_value(drill: Drill) -> None:
    drill.restored.named().points["drill/b"][4] = (4, "0.0")


def _double_a_step(drill: Drill) -> None:
    points = drill.restored.named().points["drill/b"]
    points.append(points[-1])


def _alter_an_image(drill: Drill) -> None:
    ((step, content),) = drill.restored.named().files["drill/image"]
    drill.restored.named().files["drill/image"] = [(step, content + b"\0")]


def _lose_an_image(drill: Drill) -> None:
    drill.restored.gone.add("media/image/000-")


def _lose_a_file_of_the_sdk(drill: Drill) -> None:
    drill.restored.named("-sdk").files["sentinel/audio"].pop()


def _lose_a_value_of_the_sdk(drill: Drill) -> None:
    drill.restored.named("-sdk").points["sentinel/k2"].pop()


def _lose_a_line(drill: Drill) -> None:
    drill.restored.named("-sdk").lines.pop(3)


def _lose_the_run(drill: Drill) -> None:
    del drill.restored.runs[drill.restored.named().cuid]


def _lose_the_project(drill: Drill) -> None:
    drill.restored.has_project = False


def _another_run_of_that_name(drill: Drill) -> None:
    run = drill.restored.named()
    drill.restored.runs["x1"] = drill.restored.runs.pop(run.cuid)
    run.cuid = "x1"


def _refuse_the_key(drill: Drill) -> None:
    drill.restored.keys = {"b1B2c3D4e5F6g7H8i9J0k": USER}


def _refuse_the_export(drill: Drill) -> None:
    drill.restored.answers[f"/api/experiment/{drill.restored.named().cuid}/column/csv"] = (403, b"no")


DAMAGES: list[tuple[Callable[[Drill], None], str]] = [
    (_lose_a_step, "1 values are lost although later ones of their series are there"),
    (_alter_a_value, "drill/b step 4: '0.0' instead of "),
    (_double_a_step, "drill/b step 4: is there 2 times"),
    (_alter_an_image, "1 media files are wrong"),
    (_lose_an_image, "drill/image step 0"),
    (_lose_a_file_of_the_sdk, "1 of 6 media files that were acknowledged before the restore point are lost"),
    (_lose_a_value_of_the_sdk, "1 of 806 values that were acknowledged before the restore point are lost"),
    (_lose_a_line, "run of the SDK, terminal log"),
    (_lose_the_run, "is not in the list of project plumbline-drill under its id"),
    (_lose_the_project, "is not in the list of project plumbline-drill under its id"),
    (_another_run_of_that_name, "is not in the list of project plumbline-drill under its id"),
    (_refuse_the_key, "login: the restored SwanLab refuses the API key"),
    (_refuse_the_export, "key drill/a: HTTP 403"),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGES)
def test_every_damage_is_red(written: Drill, damage: Callable[[Drill], None], reason: str) -> None:
    damage(written)
    code, found = written.judge()
    assert (code, found["verdict"]) == (1, "red")
    assert reason in "\n".join(found["reasons"])


def test_the_lost_end_is_measured_and_the_point_is_the_limit(written: Drill) -> None:
    run = written.restored.named()
    for points in run.points.values():
        del points[3:]
    first = next(sent.acked for sent in written.read().sent if sent.step == 3)
    assert first is not None
    code, found = written.judge("--point-started", stamp(first - 0.0001), "--window", "0")
    assert (code, found["first_lost"], found["values_lost"]) == (0, stamp(first), 4)
    assert found["rpo_seconds"] > 0
    code, found = written.judge("--point-started", stamp(first + 0.0001), "--window", "0")
    assert code == 1
    assert "2 of 814 values that were acknowledged before the restore point are lost" in found["reasons"]
    # The default window excuses it: it is what a delivery buffer may hold.
    assert written.judge("--point-started", stamp(first + 0.0001))[0] == 0


def test_the_key_is_the_sources_and_where_its_secret_is_gone_the_restored_stacks(written: Drill) -> None:
    written.secret("other-api-key", "b1B2c3D4e5F6g7H8i9J0k")
    assert written.judge()[1]["key_of"] == "source"
    written.secret("swanlab-api-key", None)
    written.secret("other-api-key", KEY)
    code, found = written.judge()
    assert (code, found["key_of"], found["old_key"]) == (0, "restored", True)


def test_a_new_key_that_lets_in_does_not_prove_the_old_one(written: Drill) -> None:
    new = "b1B2c3D4e5F6g7H8i9J0k"
    written.restored.keys = {new: USER}
    written.secret("swanlab-api-key", None)
    written.secret("other-api-key", new)
    code, found = written.judge()
    assert (code, found["login"], found["old_key"]) == (1, True, False)
    assert found["reasons"] == [
        "login: the key that lets in is not the one with which the journal was written; the old one is unproven"
    ]


def test_an_empty_journal_is_red(written: Drill) -> None:
    (written.journal / NAME).write_bytes(b"")
    code, found = written.judge()
    assert code == 1
    assert "the journal is empty: nothing was compared" in found["reasons"]


def test_a_journal_that_was_cut_is_judged_by_what_is_whole(written: Drill) -> None:
    path = written.journal / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:20])
    code, found = written.judge()
    assert (code, found["values_equal"]) == (0, 806 + 8)


def _no_journal(drill: Drill) -> None:
    (drill.journal / NAME).unlink()


def _damaged_journal(drill: Drill) -> None:
    path = drill.journal / NAME
    path.write_bytes(path.read_bytes().replace(b'"step":2', b'"step":"x"', 1))


def _no_contract(drill: Drill) -> None:
    drill.contracts["restored"].unlink()


def _no_swanlab(drill: Drill) -> None:
    document = json.loads(drill.contracts["restored"].read_text()) | {"experiments": None}
    drill.contracts["restored"].write_text(json.dumps(document))


def _other_cluster(drill: Drill) -> None:
    document = json.loads(drill.contracts["source"].read_text())
    document["cluster"]["uid"] = "another"
    drill.contracts["source"].write_text(json.dumps(document))


def _no_answer(drill: Drill) -> None:
    drill.restored.answers["/api/login/api_key"] = (503, b"")


def _half_an_answer(drill: Drill) -> None:
    drill.restored.answers[f"/api/experiment/{drill.restored.named().cuid}/column"] = (500, b"")


def _no_key(drill: Drill) -> None:
    drill.secret("swanlab-api-key", None)


@pytest.mark.parametrize(
    "damage",
    [
        *(_no_journal, _damaged_journal, _no_contract, _no_swanlab),
        *(_other_cluster, _no_answer, _half_an_answer, _no_key),
    ],
)
def test_without_an_answer_there_is_no_verdict_not_even_an_old_one(
    written: Drill, damage: Callable[[Drill], None]
) -> None:
    written.out.write_text('{"verdict": "green"}')
    damage(written)
    assert written.judge() == (3, {})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--disaster", "2999-01-01T00:00:00Z"), "is still to come"),
        (("--disaster", "2026-01-01T00:00:00Z", "--point-started", "2026-01-01T00:00:01Z"), "is after --disaster"),
    ],
)
def test_moments_that_cannot_be(
    written: Drill, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], words: str
) -> None:
    assert written.judge(*more)[0] == 3
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("more", [("--disaster", "2026-01-01T00:00:00"), ("--disaster", "soon"), ("--window", "-1")])
def test_arguments_that_are_not_understood(written: Drill, more: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        written.judge(*more)


def test_a_second_start_with_the_same_journal_is_refused(written: Drill, capsys: pytest.CaptureFixture[str]) -> None:
    before = (written.journal / NAME).read_bytes()
    assert written.write() == 3
    assert "is not empty" in capsys.readouterr().err
    assert (written.journal / NAME).read_bytes() == before


def test_a_run_of_the_sdk_that_is_not_whole_in_the_source_begins_no_drill(drill: Drill) -> None:
    drill.source.damage = lambda run: run.points["sentinel/k0"].pop()
    assert drill.write() == 3
    journal = drill.read()
    assert (journal.sdk, journal.sent) == (None, ())
    assert drill.judge()[0] == 1


def test_a_timed_run_that_was_never_acknowledged_is_told(drill: Drill) -> None:
    drill.source.refuses = dict.fromkeys(range(1, 20), (503, b"no"))
    assert drill.write() == 1
    code, found = drill.judge()
    assert code == 1
    assert "no value of the timed run was acknowledged before the disaster: nothing was compared" in found["reasons"]


def test_a_run_that_cannot_be_ended_is_told_and_its_journal_is_whole(drill: Drill) -> None:
    drill.source.finishes = False
    assert drill.write() == 1
    assert drill.read().ended


def test_a_signal_before_the_timed_run_ends_the_command(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("smoke.drill.sdk_run.record", interrupted)
    assert drill.write() == command.INTERRUPTED
    with pytest.raises(JournalError):
        read(drill.directory)
