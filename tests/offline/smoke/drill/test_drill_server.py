"""The timed run against the stand-in's servers and real stores: what they acknowledge, keep, lose and give back."""

from __future__ import annotations

import io
import threading
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from smoke import limits
from smoke.access.errors import AccessError
from smoke.access.swanlab import SwanLab
from smoke.drill import keys
from smoke.drill.journal import Writer
from smoke.drill.journal_reader import read
from smoke.drill.model import IMAGE, PROJECT, SCALARS, Asked, Begin
from smoke.drill.reading import Restoration
from smoke.drill.recorder import Recorder
from smoke.drill.timed import IMAGE_EVERY, Timed
from smoke.drill.verdict import judge
from tests.offline.smoke.drill.standin import PRIVATE, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smoke.access.swanlab import Target
    from smoke.drill.model import Journal, Judgement
    from tests.offline.smoke.drill.standin import StandIn

STEPS = 25
NO_SDK = [
    "run drill-1-sdk is not in the list of project plumbline-drill under its id",
    "the journal names no run of the SDK that was complete before the restore point",
]
"""Nothing but this is wrong: an SDK needs an environment of its own, which other tests play."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """One installation for all tests."""
    with stand_in(tmp_path_factory.mktemp("stand-in")) as found:
        yield found


class _Steps(threading.Event):
    """Says stop after STEPS steps, without any waiting between them."""

    steps = 0

    def is_set(self) -> bool:
        self.steps += 1
        return self.steps > STEPS

    def wait(self, timeout: float | None = None) -> bool:
        return timeout is None


class Drilled:
    """A run that was written, and the ways to damage what is kept of it."""

    def __init__(self, site: StandIn, target: Target, journal: Path, finished: bool) -> None:  # noqa: FBT001  # a fact
        self.site, self.target, self._directory, self.finished = site, target, journal, finished

    @property
    def journal(self) -> Journal:
        """As it was written."""
        return read(self._directory)

    def judged(self, key: str = "") -> Judgement:
        """What is kept now, judged."""
        used = key or self.site.key
        client = SwanLab("SwanLab", lambda: self.site.url, lambda: None, key=lambda: used)
        return judge(self.journal, Restoration(client, used).read(self.journal), Asked(disaster=time.time()))

    def points(self, statement: str) -> None:
        """Change what the points' store holds."""
        self.site.engine.rows(statement)

    def uid(self) -> str:
        """Under which the points are."""
        (uid,) = self.site.engine.rows(
            f"SELECT DISTINCT uid FROM scalar WHERE startsWith(uid, '{self.target.run_id}')"  # noqa: S608  # an id
        )
        return uid


@pytest.fixture
def drilled(site: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drilled:
    """A timed run of STEPS steps, all of which have arrived."""
    monkeypatch.setattr(limits, "QUICK", 0.0)
    recorder = Recorder("SwanLab", lambda: site.url, lambda: None, key=lambda: site.key)
    writer = Writer(tmp_path / "journal")
    writer.begin(Begin("drill-1", "drill-1-sdk", PROJECT, recorder.user(), keys.mark(site.key)), time.time())
    target = recorder.start(PROJECT, "drill-1", SCALARS, (IMAGE,))
    writer.run(target.run_id, target.project_id, time.time())
    timed = Timed(recorder, target, writer, "seed", period=0.0)
    timed.run(_Steps())
    finished = timed.finish()
    writer.end(finished=finished, at=time.time())
    writer.close()
    site.drained()
    return Drilled(site, target, tmp_path / "journal", finished)


def test_everything_that_was_acknowledged_comes_back(drilled: Drilled) -> None:
    found = drilled.judged()
    images = len(range(0, STEPS, IMAGE_EVERY))
    assert list(found.reasons) == NO_SDK
    assert drilled.finished
    assert len(drilled.journal.sent) == STEPS + images
    assert (found.document["values_acknowledged"], found.document["values_equal"]) == (2 * STEPS, 2 * STEPS)
    assert (found.document["media_acknowledged"], found.document["media_equal"]) == (images, images)
    assert (found.document["old_key"], found.document["rpo_seconds"]) == (True, 0.0)


def test_the_end_that_the_points_store_lost_is_measured(drilled: Drilled) -> None:
    drilled.points(f"DELETE FROM scalar WHERE uid = '{drilled.uid()}' AND step >= 20")  # noqa: S608  # an id
    found = drilled.judged()
    first = next(sent.acked for sent in drilled.journal.sent if sent.step == 20 and sent.values)
    assert list(found.reasons) == NO_SDK
    assert found.document["values_lost"] == 10
    assert first is not None
    assert found.document["first_lost"] < found.document["disaster"]
    assert found.document["values_missing"][0]["step"] == 20


def _hole(drilled: Drilled) -> None:
    drilled.points(f"DELETE FROM scalar WHERE uid = '{drilled.uid()}' AND step = 7")  # noqa: S608  # an id


def _all_points(drilled: Drilled) -> None:
    drilled.points(f"DELETE FROM scalar WHERE uid = '{drilled.uid()}'")  # noqa: S608  # an id


def _altered(drilled: Drilled) -> None:
    """Of two rows of a step the one with the higher precedence counts."""
    row = "* REPLACE (value + 1 AS value, precedence + 1 AS precedence)"
    condition = f"uid = '{drilled.uid()}' AND key = 'drill/a' AND step = 7"
    drilled.points(f"INSERT INTO scalar SELECT {row} FROM scalar WHERE {condition}")  # noqa: S608  # an id


def _images(drilled: Drilled) -> list[str]:
    prefix = f"{drilled.target.project_id}/{drilled.target.run_id}/"
    found = drilled.site.objects.list_objects(PRIVATE, prefix, recursive=True)
    return sorted(str(one.object_name) for one in found if "/media/image/" in str(one.object_name))


def _object_gone(drilled: Drilled) -> None:
    drilled.site.objects.remove_object(PRIVATE, _images(drilled)[0])


def _object_altered(drilled: Drilled) -> None:
    drilled.site.objects.put_object(PRIVATE, _images(drilled)[0], io.BytesIO(b"other"), 5)


def _media_points_gone(drilled: Drilled) -> None:
    drilled.points(f"DELETE FROM media WHERE uid = '{drilled.uid()}' AND step = 0")  # noqa: S608  # an id


def _run_gone(drilled: Drilled) -> None:
    with psycopg.connect(drilled.site.database, autocommit=True) as connection:
        connection.execute("UPDATE experiments SET name = 'other' WHERE cuid = %s", (drilled.target.run_id,))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_hole, "2 values are lost although later ones of their series are there"),
        (_all_points, "no value of the timed run is there"),
        (_altered, "drill/a step 7: "),
        (_object_gone, "1 media files are named and not there; the first: drill-1/drill/image step 0"),
        (_object_altered, "1 media files are wrong"),
        (_media_points_gone, "1 media files are lost although later ones of their series are there"),
        (_run_gone, "run drill-1 is not in the list of project plumbline-drill under its id"),
    ],
)
def test_damage_in_a_store_is_seen(drilled: Drilled, damage: Callable[[Drilled], None], reason: str) -> None:
    damage(drilled)
    assert reason in "\n".join(drilled.judged().reasons)


def test_a_key_that_the_server_does_not_know_is_refused(drilled: Drilled) -> None:
    found = drilled.judged("b1B2c3D4e5F6g7H8i9J0k")
    assert found.document["login"] is False
    assert found.reasons[0] == "login: the restored SwanLab refuses the API key"


def test_a_run_that_is_gone_acknowledges_nothing(drilled: Drilled) -> None:
    recorder = Recorder("SwanLab", lambda: drilled.site.url, lambda: None, key=lambda: drilled.site.key)
    recorder.delete_run(drilled.target)
    with pytest.raises(AccessError):
        recorder.log(drilled.target, 0, {"drill/a": 1.0})
