"""Judgement over an installation of SwanLab."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from smoke.access.exposition import parse
from smoke.judge import swanlab
from smoke.judge.swanlab import State
from stacks.contract import Store

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
WELL = {
    "server": (200, "OK\n"),
    "auth": (200, ""),
    "house": (200, "{}"),
    "pages": (200, "\n<!DOCTYPE html><title>SwanLab</title>"),
}
PGDATA = "/var/lib/postgresql/data"


def test_parts_that_are_well() -> None:
    assert swanlab.ready(WELL) == []


@pytest.mark.parametrize(
    ("part", "answer", "words"),
    [
        ("server", (200, "<html>login</html>"), "server at /api of the gateway: seen text '<html>login</html>'"),
        ("server", (404, ""), "server at /api of the gateway: seen HTTP 404; expected HTTP 200"),
        ("auth", (302, ""), "auth at /api/auth/health of the gateway: seen HTTP 302"),
        ("house", (403, ""), "house at /api/house/health of the gateway: seen HTTP 403"),
        ("pages", (200, "Bad gateway"), "pages at / of the gateway: seen text 'Bad gateway'; expected a page"),
    ],
)
def test_part_that_is_not_well(part: str, answer: tuple[int, str], words: str) -> None:
    assert [words in str(problem) for problem in swanlab.ready({**WELL, part: answer})] == [True]


def test_part_that_was_not_asked_is_not_well() -> None:
    assert len(swanlab.ready({})) == 4


def test_licence() -> None:
    assert swanlab.activated({"enabled": True, "expired": False}) == []
    assert swanlab.activated({"enabled": False, "expired": False})[0].seen == "enabled: False"
    assert swanlab.activated({"enabled": True, "expired": True})[0].seen == "expired: True"
    assert len(swanlab.activated({})) == 2


def test_internal_routes() -> None:
    closed = dict.fromkeys(swanlab.INTERNAL, 403)
    assert swanlab.internal_closed(closed) == []
    assert swanlab.internal_closed({**closed, "/api/internal": 404}) == []
    assert str(swanlab.internal_closed({**closed, "/api/house/internal": 204})[0]) == (
        "GET /api/house/internal of the gateway: seen HTTP 204; expected no 2xx"
    )
    assert len(swanlab.internal_closed({})) == len(swanlab.INTERNAL)


def test_logins() -> None:
    assert swanlab.login_refused({"a wrong key": 401, "an empty key": 403}) == []
    assert str(swanlab.login_refused({"an empty key": None})[0]).startswith("login with an empty key: seen logged in")
    assert swanlab.login_refused({"a wrong key": 404})[0].seen == "HTTP 404"
    assert swanlab.login_refused({})[0].seen == "none was tried"


def _pod(claim: str | None = "swanlab-postgres-pvc", point: str = PGDATA, service: str = "postgres") -> Json:
    source: Json = {"persistentVolumeClaim": {"claimName": claim}} if claim else {"emptyDir": {}}
    return {
        "metadata": {"name": "pg-0", "labels": {"app.kubernetes.io/service": service}},
        "spec": {
            "containers": [
                {"name": service, "volumeMounts": [{"name": "data", "mountPath": point, "subPath": "data"}]}
            ],
            "volumes": [{"name": "data", **source}],
        },
    }


POSTGRES = Store(mode="chart", claims=("swanlab-postgres-pvc",))


def test_store_whose_claim_is_mounted() -> None:
    assert swanlab.stores_mounted("postgres", POSTGRES, [_pod(), _pod("x", service="redis")]) == []


@pytest.mark.parametrize(
    ("store", "pods", "words"),
    [
        (POSTGRES, [], "store postgres: seen no pod"),
        (POSTGRES, [_pod(service="redis")], "store postgres: seen no pod"),
        (POSTGRES, [_pod(None)], "claim swanlab-postgres-pvc: seen a volume of no pod of its store"),
        (POSTGRES, [_pod("other")], "pod pg-0: seen no claim of its store"),
        (POSTGRES, [_pod(), _pod(None)], "pod pg-0: seen no claim of its store"),
        (Store(mode="chart"), [_pod()], "store postgres: seen no claim in the contract"),
    ],
)
def test_store_whose_claim_is_not_mounted(store: Store, pods: list[Json], words: str) -> None:
    assert words in "\n".join(map(str, swanlab.stores_mounted("postgres", store, pods)))


def test_each_pod_of_the_buffer_has_a_claim_of_its_own() -> None:
    buffer = Store(mode="chart", claims=("b-0", "b-1"))
    pods = [_pod("b-0", "/data", "vector"), _pod("b-1", "/data", "vector")]
    assert swanlab.stores_mounted("buffer", buffer, pods) == []
    assert "claim b-1" in str(swanlab.stores_mounted("buffer", buffer, pods[:1])[0])


def test_data_directory_on_its_claim() -> None:
    points = frozenset({"/", "/proc", PGDATA})
    assert swanlab.on_claim(State(_pod(), "postgres", PGDATA, points), "swanlab-postgres-pvc") == []
    below = State(_pod(), "postgres", f"{PGDATA}/15/main", points)
    assert swanlab.on_claim(below, "swanlab-postgres-pvc") == []
    unseen = State(_pod(), "postgres", PGDATA, None)
    assert swanlab.on_claim(unseen, "swanlab-postgres-pvc") == []


def _shadowed(state: State) -> State:
    # The claim is one level up, and the volume that the image declares lies over it: the reference's data loss.
    pod = _pod(point="/var/lib/postgresql")
    return State(pod, state.container, PGDATA, frozenset({"/", "/var/lib/postgresql", PGDATA}))


FAULTS: dict[str, tuple[Callable[[State], State], str]] = {
    "another volume lies over it": (_shadowed, "seen no volume in the pod's spec"),
    "elsewhere": (
        lambda s: State(s.pod, s.container, "/var/lib/postgresql/15/main", s.points),
        "seen on the container's own file system",
    ),
    "ephemeral": (lambda s: State(_pod(None), s.container, PGDATA, s.points), "seen a volume of kind emptyDir"),
    "another claim": (lambda s: State(_pod("other"), s.container, PGDATA, s.points), "seen claim other"),
    "a name that only begins alike": (
        lambda s: State(s.pod, s.container, f"{PGDATA}-old", s.points),
        "seen on the container's own file system",
    ),
    "not mounted, by its spec": (
        lambda s: State(_pod(point="/elsewhere"), s.container, PGDATA, None),
        "seen on the container's own file system",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_data_directory_not_on_its_claim(fault: str) -> None:
    change, words = FAULTS[fault]
    healthy = State(deepcopy(_pod()), "postgres", PGDATA, frozenset({"/", PGDATA}))
    problems = swanlab.on_claim(change(healthy), "swanlab-postgres-pvc")
    assert words in "\n".join(map(str, problems))


def test_gate_that_sees_every_part_well() -> None:
    up = "plumbline_swanlab_up"
    text = f'# TYPE {up} gauge\n{up}{{part="server"}} 1\n{up}{{part="house"}} %d\n'
    assert swanlab.gate(parse(text % 1)) == []
    assert str(swanlab.gate(parse(text % 0))[0]) == "part house as SwanLab's gate sees it: seen not well; expected well"
    assert swanlab.gate([])[0].seen == "no plumbline_swanlab_up"


def _alive(*uids: str) -> list[Json]:
    return [{"metadata": {"name": f"pod-{uid}", "uid": uid}} for uid in uids]


def test_killed_pods_are_replaced() -> None:
    assert swanlab.renewed(_alive("a", "b"), _alive("c", "d", "e"), "n") == []
    told = "\n".join(map(str, swanlab.renewed(_alive("a", "b"), _alive("b", "c"), "n")))
    assert "pod n/pod-b: seen the one that was killed still lives" in told
    assert "namespace n: seen 1 new pods; expected 2, as many as were killed" in told
    assert "seen 0 new pods" in str(swanlab.renewed(_alive("a"), [], "n")[0])


@pytest.mark.parametrize(
    ("small", "large", "words"),
    [
        (400, 400, ""),
        (200, 200, ""),
        (422, 422, ""),
        (400, 413, "with 67108864 bytes: seen HTTP 413; expected HTTP 400, as with 2 bytes"),
        (400, 403, "with 67108864 bytes: seen HTTP 403"),
        (400, 200, "with 67108864 bytes: seen HTTP 200"),
        (413, 413, "with 2 bytes: seen HTTP 413; expected an answer to its content"),
        (401, 401, "with 2 bytes: seen HTTP 401"),
    ],
)
def test_large_body_is_answered_as_a_small_one(small: int, large: int, words: str) -> None:
    found = swanlab.body_taken(64 * 1024**2, small, large)
    assert bool(found) is bool(words)
    assert words in "".join(map(str, found))
