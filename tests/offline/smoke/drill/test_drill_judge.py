"""`judge` as a drill calls it: every damage is red, and what cannot be judged gives no verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smoke.drill.journal import NAME
from smoke.drill.times import stamp
from tests.offline.smoke.fake_swanlab import KEY, USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.offline.smoke.drill.drill_site import Drill


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


def test_the_living_source_is_no_restored_copy(written: Drill) -> None:
    """Who judges the source in place of the copy sees values from after the disaster."""
    first = next(sent.at for sent in written.read().sent if sent.step == 3)
    code, found = written.judge("--disaster", stamp(first - 0.0001))
    assert code == 1
    assert "this is no restored copy" in found["reasons"][0]
    # The same contract twice is a SwanLab that was restored in its own place, and may be written to again.
    written.contracts["restored"] = written.contracts["source"]
    written.source.stop_after = 1 << 30
    assert written.judge("--disaster", stamp(first - 0.0001))[0] == 0


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
