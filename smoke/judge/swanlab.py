"""SwanLab as an installation: every part answers, it is activated, closed to strangers, and its state is on claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from smoke.judge import mounts
from smoke.model import Problem
from stacks.contract import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smoke.access.exposition import Sample
    from stacks.contract import Store

Json = dict[str, Any]

OK: Final = 200
REFUSALS: Final = (401, 403)
TOO_LARGE: Final = 413
SMALL: Final = 2
"""Bytes of a body that no proxy refuses."""
HTML: Final = ("<!doctype html", "<html")
ROUTES: Final = {"server": "/api", "auth": "/api/auth/health", "house": "/api/house/health", "pages": "/"}
"""Part → route of the gateway by which it tells that it is well."""

INTERNAL: Final = ("/api/internal", "/api/internal/health", "/api/house/internal", "/api/house/internal/health")
"""Routes that the parts use among themselves; nobody else may."""

METRICS: Final = "/api/house/metrics"
"""Route that takes what SDKs log, in the largest bodies but those of files."""

CHART_PUBLIC_BUCKET: Final = "swanlab-public"
"""Bucket of the store that SwanLab's chart runs, whose objects anybody reads."""

PART_UP: Final = "plumbline_swanlab_up"
"""Metric of the gate: 1 for a part that is well; its label `part` says which."""

SERVICE: Final = "app.kubernetes.io/service"
SERVICES: Final = {
    "postgres": "postgres",
    "clickhouse": "clickhouse",
    "redis": "redis",
    "s3": "s3",
    "buffer": "vector",
}
"""Store of the contract → value of the label SERVICE on its pods; its container has the same name."""


@dataclass(frozen=True)
class State:
    """Where a container keeps its state. directory: asked of the running program where that is possible.

    points: mount points that the container sees; None where it has no shell to tell them.
    """

    pod: Json
    container: str
    directory: str
    points: frozenset[str] | None


def ready(answers: Mapping[str, tuple[int, str]]) -> list[Problem]:
    """Every part answers through the gateway as it does when it is well. answers: part → HTTP status and text."""
    problems = []
    for part, route in ROUTES.items():
        subject = f"{part} at {route} of the gateway"
        status, text = answers.get(part, (0, ""))
        if status != OK:
            problems.append(Problem(subject, f"HTTP {status}", "HTTP 200"))
        elif part == "server" and text.strip() != "OK":
            problems.append(Problem(subject, f"text {text.strip()[:60]!r}", "text 'OK'"))
        elif part == "pages" and not text.lstrip().lower().startswith(HTML):
            problems.append(Problem(subject, f"text {text.strip()[:60]!r}", "a page"))
    return problems


def activated(licence: Json) -> list[Problem]:
    """The licence is there and has not run out."""
    problems = []
    if licence.get("enabled") is not True:
        problems.append(Problem("licence", f"enabled: {licence.get('enabled')}", "enabled: True"))
    if licence.get("expired") is not False:
        problems.append(Problem("licence", f"expired: {licence.get('expired')}", "expired: False"))
    return problems


def internal_closed(answers: Mapping[str, int]) -> list[Problem]:
    """Nobody from outside reaches what the parts use among themselves. answers: route → HTTP status."""
    found = [(route, answers.get(route)) for route in INTERNAL]
    return [
        Problem(f"GET {route} of the gateway", "not asked" if status is None else f"HTTP {status}", "no 2xx")
        for route, status in found
        if status is None or 200 <= status < 300  # noqa: PLR2004  # the class of statuses that mean yes
    ]


def login_refused(answers: Mapping[str, int | None]) -> list[Problem]:
    """No wrong key logs in. answers: kind of key → HTTP status of the refusal, None for a login that succeeded."""
    problems = [] if answers else [Problem("logins with wrong keys", "none was tried", "refused ones")]
    for kind, status in answers.items():
        if status not in REFUSALS:
            seen = "logged in" if status is None else f"HTTP {status}"
            problems.append(Problem(f"login with {kind}", seen, "refused (401 or 403)"))
    return problems


def body_taken(size: int, small: int, large: int) -> list[Problem]:
    """A large body reaches the application: it is answered as one of the same content that is small.

    size: bytes of the large one. small, large: HTTP statuses.
    """
    subject = f"POST {METRICS} of the gateway"
    if small in REFUSALS or small == TOO_LARGE:
        return [Problem(f"{subject} with {SMALL} bytes", f"HTTP {small}", "an answer to its content")]
    if large == small:
        return []
    return [
        Problem(
            f"{subject} with {size} bytes",
            f"HTTP {large}",
            f"HTTP {small}, as with {SMALL} bytes",
            terminal=large == TOO_LARGE,
        )
    ]


def pods_of(store: str, pods: list[Json]) -> list[Json]:
    """Pods in which this store runs, by their label."""
    return [pod for pod in pods if (pod["metadata"].get("labels") or {}).get(SERVICE) == SERVICES[store]]


def claim_of(pod: Json, claims: tuple[str, ...]) -> str | None:
    """The first of these claims that the pod has as a volume."""
    volumes = pod["spec"].get("volumes") or []
    names = {(volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes}
    return next((claim for claim in claims if claim in names), None)


def stores_mounted(name: str, store: Store, pods: list[Json]) -> list[Problem]:
    """Every claim of the store is a volume of one of its pods, and every pod of it has one of them."""
    own = pods_of(name, pods)
    if not store.claims:
        return [Problem(f"store {name}", "no claim in the contract", "at least one in mode chart")]
    if not own:
        return [Problem(f"store {name}", "no pod", f"a pod with label {SERVICE}={SERVICES[name]}")]
    mounted = {claim for claim in store.claims for pod in own if claim_of(pod, (claim,))}
    without = [pod["metadata"]["name"] for pod in own if claim_of(pod, store.claims) is None]
    lost = [Problem(f"claim {claim}", "a volume of no pod of its store", "one") for claim in store.claims]
    bare = [Problem(f"pod {pod}", "no claim of its store", f"one of {', '.join(store.claims)}") for pod in without]
    return [problem for problem, claim in zip(lost, store.claims, strict=True) if claim not in mounted] + bare


def on_claim(state: State, claim: str) -> list[Problem]:
    """The state lies on the claim: the mount that holds its directory is the claim's, and no other lies over it."""
    subject = f"pod {state.pod['metadata']['name']} container {state.container}, state in {state.directory}"
    spec = state.pod["spec"]
    point = holder(state.directory, state.points if state.points is not None else _points_of(spec, state.container))
    if point is None:
        return [Problem(subject, "on the container's own file system", f"claim {claim}")]
    return mounts.is_claim(spec, state.container, Claim(name=claim, size="0", mounted_at=point), subject)


def renewed(killed: list[Json], living: list[Json], where: str) -> list[Problem]:
    """None of the killed pods lives, and as many others do. where: the namespace."""
    old = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in killed}
    left = [old[pod["metadata"]["uid"]] for pod in living if pod["metadata"]["uid"] in old]
    problems = [Problem(f"pod {where}/{name}", "the one that was killed still lives", "another one") for name in left]
    new = len(living) - len(left)
    if new < len(killed):
        problems.append(Problem(f"namespace {where}", f"{new} new pods", f"{len(killed)}, as many as were killed"))
    return problems


def gate(samples: Sequence[Sample]) -> list[Problem]:
    """The gate has looked at parts, and every one of them is well."""
    found = watched(samples)
    problems = [
        Problem(f"part {part} as SwanLab's gate sees it", "not well", "well") for part in found if not found[part]
    ]
    return problems or ([] if found else [Problem("SwanLab's gate", f"no {PART_UP}", "one for each part")])


def watched(samples: Sequence[Sample]) -> dict[str, bool]:
    """Part → whether the gate sees it well."""
    return {sample.labels.get("part", ""): sample.value == 1 for sample in samples if sample.name == PART_UP}


def holder(directory: str, points: frozenset[str]) -> str | None:
    """The mount point under which a directory lies: the longest that leads to it; None for the root."""
    parts = directory.rstrip("/")
    found = [point for point in points if point != "/" and f"{parts}/".startswith(f"{point.rstrip('/')}/")]
    return max(found, key=len, default=None)


def _points_of(spec: Json, container: str) -> frozenset[str]:
    found = next((c.get("volumeMounts") or [] for c in spec["containers"] if c["name"] == container), [])
    return frozenset(mount["mountPath"] for mount in found)
