"""Migrations, upgrade and connections that are cut, on a real PostgreSQL."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from sandbox.swanlab_server import migrating
from sandbox.swanlab_server.errors import StartError
from sandbox.swanlab_server.settings import Postgres
from tests.offline.sandbox.swanlab_server.server_driver import Client
from tests.offline.sandbox.swanlab_server.server_site import NEW, OLD, opened, project, started

if TYPE_CHECKING:
    from tests.offline.sandbox.swanlab_server.server_site import Site


def test_replicas_that_start_together_migrate_once(postgres: Postgres) -> None:
    faults: list[Exception] = []

    def start() -> None:
        try:
            migrating.apply(postgres, NEW, patience=5)
        except Exception as error:  # told by the assertion below
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with psycopg.connect(postgres.primary) as connection:
        rows = connection.execute("SELECT migration_name FROM _prisma_migrations ORDER BY 1").fetchall()
    assert [row[0] for row in rows] == [step.name for step in migrating.migrations()]


_OF_A_RUN = (
    ("GET", "/api/project/root/p/runs/run-1", None),
    ("GET", "/api/project/root/p/runs?page=1&size=10", None),
    ("PUT", "/api/project/root/p/runs/run-1/state", {"state": "FINISHED"}),
    ("PUT", "/api/project/root/p/runs/run-1/profile", {"conda": "c"}),
    ("DELETE", "/api/project/root/p/runs/run-1", None),
    ("POST", "/api/experiment/run-1/columns", [{"key": "loss", "type": "FLOAT"}]),
    ("POST", "/api/resources/presigned/put", {"experimentId": "run-1", "paths": ["media/a.png"]}),
)


def test_a_run_is_readable_after_an_upgrade_and_the_old_server_then_refuses(postgres: Postgres, redis_url: str) -> None:
    old = opened(postgres, redis_url, OLD)
    root = old.activate()
    project(root)
    started(root, cuid="run-1", cluster="group-1")
    new = opened(postgres, redis_url, NEW)
    after = Client(new.client.app, sid=root.sid)
    assert after.ask("GET", "/api/project/root/p/runs/run-1").body["cluster"] == "group-1"
    # The old server that still runs must fail aloud, so that the SDK sends again: it drops what is refused with 4xx.
    assert started(root, cuid="run-2", cluster="group-2").status == 500
    assert started(root, cuid="run-1").status == 500
    for method, path, body in _OF_A_RUN:
        assert root.ask(method, path, body).status == 500, path
    with pytest.raises(StartError, match=r"0004_3\.2\.0_run_group"):
        migrating.apply(postgres, OLD, patience=5)
    old.database.close()
    new.database.close()


def test_a_database_that_is_not_there_is_told(server: str) -> None:
    nowhere = Postgres(primary=f"{server}/absent", replica=f"{server}/absent")
    with pytest.raises(StartError, match="PRIMARY_URL"):
        migrating.apply(nowhere, OLD, patience=0)


def test_connections_that_were_cut_are_made_anew_without_a_failed_request(site: Site) -> None:
    root = site.activate()
    with psycopg.connect(site.postgres.primary, autocommit=True) as connection:
        cut = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = 'app' AND backend_type = 'client backend'"
        ).fetchall()
    assert cut
    assert root.ask("GET", "/api/user/profile").status == 200
