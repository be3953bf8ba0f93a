"""Projects, runs and what belongs to them on real stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.swanlab_server import runs
from tests.offline.sandbox.swanlab_server.server_driver import Client
from tests.offline.sandbox.swanlab_server.server_site import CREATED, project, started, uid

if TYPE_CHECKING:
    from tests.offline.sandbox.swanlab_server.server_site import Site


def test_a_project_is_created_once_by_each_way_that_sdks_ask(site: Site) -> None:
    root = site.activate()
    first = root.ask("POST", "/api/project", {"name": "p", "visibility": "PRIVATE"})
    again = root.ask("POST", "/api/project", {"name": "p"})
    assert (first.status, again.status) == (201, 409)
    assert first.body["cuid"] == again.body["cuid"]
    assert root.ask("POST", "/api/project/root", {"name": "p"}).status == 409
    assert root.ask("POST", "/api/projects/root", {"name": "p"}).status == 200
    assert root.ask("POST", "/api/projects/root", {"name": "q"}).status == 201
    assert root.ask("POST", "/api/project/nobody", {"name": "q"}).status == 404
    found = root.ask("GET", "/api/project/root/p").body
    assert (found["path"], found["username"], found["group"]["username"]) == ("/root/p", "root", "root")
    assert (found["_count"]["experiments"], found["version"]) == (0, 0)


def test_a_run_goes_on_under_its_id_and_belongs_to_one_project(site: Site) -> None:
    root = site.activate()
    project(root)
    project(root, "q")
    first = started(root, cuid="run-1", cluster="group-1", labels=[{"name": "t"}])
    assert (first.status, first.body["cuid"], first.body["state"]) == (201, "run-1", "RUNNING")
    assert first.body["flagId"]
    root.ask("PUT", "/api/project/root/p/runs/run-1/state", {"state": "CRASHED", "finishedAt": CREATED})
    again = started(root, cuid="run-1", name="other")
    assert (again.status, again.body["name"], again.body["state"]) == (200, "r", "RUNNING")
    assert (again.body["cluster"], again.body["createdAt"]) == ("group-1", "2026-01-01T00:00:00.123Z")
    other = root.ask("POST", "/api/project/root/q/experiment", {"name": "r", "cuid": "run-1"})
    assert other.status == 409
    assert root.ask("GET", "/api/project/root/q/runs/run-1").status == 404
    assert root.ask("GET", "/api/project/root/p").body["_count"]["experiments"] == 1


def test_a_run_in_a_project_that_is_not_there_is_404(site: Site) -> None:
    root = site.activate()
    assert started(root).status == 404


@pytest.mark.parametrize("state", ["FINISHED", "CRASHED", "ABORTED"])
def test_a_run_ends_as_the_sdk_says(site: Site, state: str) -> None:
    root = site.activate()
    project(root)
    cuid = started(root).body["cuid"]
    place = f"/api/project/root/p/runs/{cuid}"
    assert root.ask("PUT", f"{place}/state", {"state": state, "finishedAt": CREATED, "from": "sdk"}).status == 200
    found = root.ask("GET", place).body
    assert (found["state"], found["finishedAt"]) == (state, "2026-01-01T00:00:00.123Z")
    assert root.ask("PUT", f"{place}/state", {"state": "RUNNING"}).status == 400


def test_a_profile_is_kept_part_by_part(site: Site) -> None:
    root = site.activate()
    project(root)
    place = f"/api/project/root/p/runs/{started(root).body['cuid']}"
    config = {"lr": {"value": 0.1, "desc": "", "sort": 0}, "odd\u0000": {"value": "损失"}}
    first: tuple[object, ...] = ({"metadata": {"cpu": 2}}, {"requirements": "a==1"}, {"conda": "b"}, {"config": {}})
    for part in (*first, {"config": config}):
        assert root.ask("PUT", f"{place}/profile", part).status == 200
    expected = {"config": config, "metadata": {"cpu": 2}, "requirements": "a==1", "conda": "b"}
    assert root.ask("GET", place).body["profile"] == expected
    assert root.ask("PUT", f"{place}/profile", {}).status == 400


def test_columns_are_kept_once_listed_and_exported(site: Site) -> None:
    root = site.activate()
    project(root)
    cuid = started(root, name="rat-1").body["cuid"]
    columns = [{"key": "loss", "type": "FLOAT"}, {"key": "cpu", "type": "FLOAT", "class": "SYSTEM", "yRange": [0, 100]}]
    assert root.ask("POST", f"/api/experiment/{cuid}/columns", columns).status == 201
    assert root.ask("POST", f"/api/experiment/{cuid}/columns", [{"key": "loss", "type": "TEXT"}]).status == 201
    listed = root.ask("GET", f"/api/experiment/{cuid}/column?page=1&size=10&class=CUSTOM").body
    assert [(item["key"], item["type"]) for item in listed["list"]] == [("loss", "FLOAT")]
    assert root.ask("GET", f"/api/experiment/{cuid}/column?all=True").body["total"] == 2
    site.points.rows[uid(site, cuid)] = {"loss": []}
    url = root.ask("GET", f"/api/experiment/{cuid}/column/csv?key=loss").body["url"]
    (key,) = site.objects.sizes
    assert url == f"http://swanlab.test/get/{key}"
    assert root.ask("GET", f"/api/experiment/{cuid}/column/csv?key=absent").status == 404


def test_a_key_that_no_database_can_hold_is_the_callers_fault(site: Site) -> None:
    root = site.activate()
    project(root)
    cuid = started(root).body["cuid"]
    assert root.ask("POST", f"/api/experiment/{cuid}/columns", [{"key": "a\u0000", "type": "FLOAT"}]).status == 422


def test_an_upgraded_project_keeps_series_and_refuses_old_sdks(site: Site) -> None:
    root = site.activate()
    project(root)
    running = started(root).body["cuid"]
    assert root.ask("POST", "/api/project/root/p/multi_view").status == 409
    root.ask("PUT", f"/api/project/root/p/runs/{running}/state", {"state": "FINISHED"})
    assert root.ask("POST", "/api/project/root/p/multi_view").body["version"] == 1
    old = Client(site.client.app, {"X-SwanLab-SDK-Version": "0.8.4"}, root.sid)
    assert started(old).status == 403
    cuid = started(root).body["cuid"]
    assert old.ask("POST", f"/api/experiment/{cuid}/columns", [{"key": "loss", "type": "FLOAT"}]).status == 403
    series = {"series": [{"key": "loss", "type": "FLOAT"}, {"key": "other", "type": "FLOAT"}]}
    assert root.ask("POST", "/api/projects/root/p/series", series).status == 201
    site.points.rows[uid(site, cuid)] = {"loss": []}
    listed = root.ask("GET", f"/api/experiment/{cuid}/column?page=1&size=10").body["list"]
    assert [item["key"] for item in listed] == ["loss"]


def test_media_lie_below_their_run(site: Site) -> None:
    root = site.activate()
    prefix = f"{project(root)['cuid']}/{started(root, cuid='run-1').body['cuid']}"
    paths = ["media/image/001-a.png", "media/text/002-b.txt"]
    put = root.ask("POST", "/api/resources/presigned/put", {"experimentId": "run-1", "paths": paths}).body
    assert put["urls"] == [f"http://swanlab.test/put/{prefix}/{path}" for path in paths]
    got = root.ask("POST", "/api/resources/presigned/get", {"prefix": prefix, "paths": paths}).body
    assert got["urls"] == [f"http://swanlab.test/get/{prefix}/{path}" for path in paths]
    whole = {"paths": [f"{prefix}/exports/a.log"]}
    assert root.ask("POST", "/api/files/presigned/get", whole).body["urls"][0].endswith(whole["paths"][0])
    for wrong in ({"prefix": "other/run-1", "paths": paths}, {"prefix": f"{prefix}/..", "paths": paths}):
        assert root.ask("POST", "/api/resources/presigned/get", wrong).status == 404
    assert root.ask("POST", "/api/resources/presigned/get", {"prefix": prefix, "paths": ["../x"]}).status == 400


def test_a_file_counts_as_saved_when_it_was_announced_and_is_there(site: Site) -> None:
    root = site.activate()
    prefix = f"{project(root)['cuid']}/{started(root, cuid='run-1').body['cuid']}"
    files = {"files": [{"path": "w.bin", "size": 3, "md5": "m", "mimeType": "x/y"}]}
    assert len(root.ask("POST", "/api/experiment/run-1/files/prepare", files).body["urls"]) == 1
    done = {"files": [{"path": "w.bin", "state": "UPLOADED"}]}
    assert root.ask("POST", "/api/experiment/run-1/files/complete", done).status == 404
    site.objects.sizes[f"{prefix}/files/w.bin"] = 3
    assert root.ask("POST", "/api/experiment/run-1/files/complete", done).status == 201
    site.objects.sizes[f"{prefix}/files/v.bin"] = 3
    unannounced = {"files": [{"path": "v.bin", "state": "UPLOADED"}]}
    assert root.ask("POST", "/api/experiment/run-1/files/complete", unannounced).status == 404


def test_a_large_file_is_put_together_once(site: Site) -> None:
    root = site.activate()
    project(root)
    started(root, cuid="run-1")
    place = "/api/experiment/run-1/files"
    files = {"files": [{"path": "big.bin", "size": 9, "md5": "m", "mimeType": "x/y", "count": 2}]}
    (prepared,) = root.ask("POST", f"{place}/prepare-multipart", files).body["files"]
    assert [part["partNumber"] for part in prepared["parts"]] == [1, 2]
    parts = [{"partNumber": 2, "etag": "b"}, {"partNumber": 1, "etag": "a"}]
    done = {"files": [{"path": "big.bin", "uploadId": prepared["uploadId"], "parts": parts}]}
    assert root.ask("POST", f"{place}/complete-multipart", done).status == 201
    assert root.ask("POST", f"{place}/complete-multipart", done).status == 201
    assert site.objects.completed == [prepared["uploadId"]]
    other = {"files": [{"path": "big.bin", "uploadId": "another", "parts": parts}]}
    assert root.ask("POST", f"{place}/complete-multipart", other).status == 404


def test_what_is_deleted_is_gone_with_its_points_and_objects(site: Site) -> None:
    root = site.activate()
    cuid = project(root)["cuid"]
    started(root, cuid="run-1")
    started(root, cuid="run-2")
    first = uid(site, "run-1")
    assert root.ask("DELETE", "/api/project/root/p/runs/run-1").status == 204
    assert root.ask("GET", "/api/project/root/p/runs/run-1").status == 404
    assert root.ask("POST", "/api/project/root/p/runs/del", {"cuids": ["run-2", "run-3"]}).status == 404
    assert root.ask("GET", "/api/project/root/p/runs/run-2").status == 200
    assert root.ask("DELETE", "/api/project/root/p").status == 204
    assert root.ask("GET", "/api/project/root/p").status == 404
    assert site.objects.removed[-1] == f"{cuid}/"
    assert site.points.removed == [first, cuid]


def test_a_run_made_anew_under_an_id_has_points_of_its_own(site: Site) -> None:
    root = site.activate()
    project(root)
    started(root, cuid="run-1")
    first = uid(site, "run-1")
    assert started(root, cuid="run-1").status == 200
    assert uid(site, "run-1") == first, "a resumed run goes on with its points"
    body = {"cuids": ["run-1", "run-1"]}
    assert root.ask("POST", "/api/project/root/p/runs/del", body).status == 204
    assert started(root, cuid="run-1").status == 201
    assert uid(site, "run-1") != first
    assert site.points.removed == [first]


def test_a_run_stays_while_its_points_cannot_be_deleted(site: Site) -> None:
    root = site.activate()
    project(root)
    started(root, cuid="run-1")
    site.points.failure = OSError("ClickHouse does not answer")
    assert root.ask("DELETE", "/api/project/root/p/runs/run-1").status == 503
    assert root.ask("DELETE", "/api/project/root/p").status == 503
    assert root.ask("GET", "/api/project/root/p/runs/run-1").status == 200
    assert site.objects.removed == []


def test_runs_are_filtered_sorted_and_paged(site: Site) -> None:
    root = site.activate()
    project(root)
    for name in ("b", "a", "c"):
        started(root, name=name, job="x" if name == "a" else "y")
    body = {
        "filters": [{"key": "job", "type": "STABLE", "op": "EQ", "value": ["y"], "active": True}],
        "sorts": [{"key": "name", "type": "STABLE", "order": "DESC"}],
    }
    assert [item["name"] for item in root.ask("POST", "/api/project/root/p/runs/shows", body).body] == ["c", "b"]
    scalar = {"filters": [{"key": "loss", "type": "SCALAR", "op": "GTE", "value": ["0"]}]}
    assert root.ask("POST", "/api/project/root/p/runs/shows", scalar).status == 422
    page = root.ask("GET", "/api/project/root/p/runs?page=1&size=10").body
    assert (page["total"], page["pages"], len(page["list"])) == (3, 1, 3)


def test_a_silent_run_is_given_up_and_one_that_is_heard_of_is_not(site: Site) -> None:
    root = site.activate()
    project(root)
    for cuid in ("silent", "heard"):
        started(root, cuid=cuid)
    with site.database.write() as connection:
        connection.execute("UPDATE experiments SET heartbeat_at = now() - interval '31 minutes'")
    assert runs.heartbeat(site.database, "heard")
    assert not runs.heartbeat(site.database, "absent")
    assert runs.abort_silent(site.database, 1800) == ["silent"]
    states = {c: root.ask("GET", f"/api/project/root/p/runs/{c}").body["state"] for c in ("silent", "heard")}
    assert states == {"silent": "ABORTED", "heard": "RUNNING"}
