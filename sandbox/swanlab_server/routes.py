"""Which path of `server` does what. Paths as the SDKs ask them, read in the wheels 0.7.20 to 0.10.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import (
    accounts,
    columns,
    export,
    files,
    listing,
    media,
    profiles,
    projects,
    runs,
    selfhosted,
)
from sandbox.swanlab_server.web import Answer, Call, Endpoint

if TYPE_CHECKING:
    from sandbox.swanlab_server.context import Context

_PROJECT: Final = "/api/project/{user}/{project}"
_RUN: Final = f"{_PROJECT}/runs/{{run}}"
_EXPERIMENT: Final = "/api/experiment/{run}"


def alive(_context: Context, _call: Call) -> Answer:
    """`GET /api`: what `swanlab ping` asks."""
    return Answer(text="OK")


OPEN: Final[tuple[Endpoint[Context], ...]] = (
    Endpoint("GET", "/api", alive, account=False),
    Endpoint("GET", "/api/", alive, account=False),
    Endpoint("POST", "/api/login", accounts.login_by_password, account=False),
    Endpoint("POST", "/api/login/api_key", accounts.login_by_key, account=False),
    Endpoint("GET", "/api/self_hosted/info", selfhosted.info, account=False),
    Endpoint("POST", "/api/self_hosted/activate", selfhosted.activate, account=False),
)
ACCOUNTS: Final[tuple[Endpoint[Context], ...]] = (
    Endpoint("POST", "/api/logout", accounts.logout),
    Endpoint("GET", "/api/identity", accounts.identity),
    Endpoint("GET", "/api/user/profile", accounts.profile),
    Endpoint("GET", "/api/user/{user}/groups", accounts.groups),
    Endpoint("GET", "/api/group/{user}", accounts.group),
    Endpoint("GET", "/api/group", accounts.groups),
    Endpoint("GET", "/api/group/", accounts.groups),
    Endpoint("GET", "/api/user/key/latest", accounts.latest_key),
    *(
        endpoint
        for path in ("/api/user/api_key", "/api/user/key")
        for endpoint in (
            Endpoint("GET", path, accounts.list_keys),
            Endpoint("POST", path, accounts.create_key),
            Endpoint("DELETE", f"{path}/{{id:int}}", accounts.delete_key),
        )
    ),
    Endpoint("GET", "/api/self_hosted/users", selfhosted.list_users),
    Endpoint("POST", "/api/self_hosted/users", selfhosted.create_users),
    Endpoint("GET", "/api/self_hosted/groups", selfhosted.list_groups),
    Endpoint("GET", "/api/self_hosted/projects", projects.list_all),
    Endpoint("GET", "/api/self_hosted/summary", selfhosted.summary),
)
PROJECTS: Final[tuple[Endpoint[Context], ...]] = (
    Endpoint("POST", "/api/project", projects.create),
    Endpoint("POST", "/api/project/{user}", projects.create_in),
    Endpoint("GET", "/api/project/{user}", projects.list_in),
    Endpoint("POST", "/api/projects/{user}", projects.ensure),
    Endpoint("POST", "/api/projects/{user}/{project}/series", columns.add_series),
    Endpoint("GET", _PROJECT, projects.get),
    Endpoint("DELETE", _PROJECT, projects.delete),
    Endpoint("POST", f"{_PROJECT}/multi_view", projects.upgrade),
)
RUNS: Final[tuple[Endpoint[Context], ...]] = (
    Endpoint("POST", f"{_PROJECT}/experiment", runs.create),
    Endpoint("GET", f"{_PROJECT}/runs", listing.page),
    Endpoint("POST", f"{_PROJECT}/runs/shows", listing.shows),
    Endpoint("POST", f"{_PROJECT}/runs/del", runs.delete_many),
    Endpoint("GET", _RUN, listing.get),
    Endpoint("DELETE", _RUN, runs.delete),
    Endpoint("PUT", f"{_RUN}/profile", profiles.put),
    Endpoint("PUT", f"{_RUN}/state", runs.end),
    Endpoint("POST", f"{_EXPERIMENT}/columns", columns.add),
    Endpoint("GET", f"{_EXPERIMENT}/column", columns.list_),
    Endpoint("GET", f"{_EXPERIMENT}/column/csv", export.column),
    Endpoint("POST", f"{_EXPERIMENT}/files/prepare", files.prepare),
    Endpoint("POST", f"{_EXPERIMENT}/files/complete", files.complete),
    Endpoint("POST", f"{_EXPERIMENT}/files/prepare-multipart", files.prepare_multipart),
    Endpoint("POST", f"{_EXPERIMENT}/files/complete-multipart", files.complete_multipart),
    Endpoint("POST", "/api/resources/presigned/put", media.upload),
    Endpoint("POST", "/api/resources/presigned/get", media.download),
    Endpoint("POST", "/api/files/presigned/get", media.download_keys),
)
ENDPOINTS: Final = (*OPEN, *ACCOUNTS, *PROJECTS, *RUNS)
