"""Roll-outs and images: what runs is what was asked for, not what ran before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke.judge.pods import container_statuses, is_live
from smoke.model import Problem

if TYPE_CHECKING:
    from stacks.contract import Image, Workload

Json = dict[str, Any]

# Counters of the status which must all equal the number of pods.
COUNTERS = {
    "StatefulSet": ("replicas", "updatedReplicas", "readyReplicas"),
    "Deployment": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "DaemonSet": ("currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"),
}
HASH_LABEL = {
    "StatefulSet": "controller-revision-hash",
    "DaemonSet": "controller-revision-hash",
    "Deployment": "pod-template-hash",
}


def rolled_out(workload: Workload, live: Json | None, pods: list[Json], newest: str | None) -> list[Problem]:
    """The controller has seen the newest spec, and exactly the promised number of pods carries it.

    newest: value of the revision label on pods of the newest revision, see HASH_LABEL; None if there is none.
    """
    subject = f"{workload.kind} {workload.name}"
    if live is None:
        return [Problem(subject, "does not exist", "exists")]
    status = live.get("status", {})
    generation = live["metadata"].get("generation")
    problems = [_differs(subject, "observed generation", status.get("observedGeneration"), generation)]
    problems += _revision(subject, workload, status)
    wanted, wrong = _wanted(subject, workload, live)
    problems += wrong
    problems += [_differs(subject, name, status.get(name, 0), wanted) for name in COUNTERS[workload.kind]]
    problems += _hashes(subject, workload.kind, pods_of(live, pods), newest, wanted)
    return [problem for problem in problems if problem]


def images(workload: Workload, live: Json | None, pods: list[Json]) -> list[Problem]:
    """Template, pod spec and running container of each container name the contracted image; there is no other one."""
    subject = f"{workload.kind} {workload.name}"
    if live is None:
        return [Problem(subject, "does not exist", "exists")]
    own = [pod for pod in pods_of(live, pods) if is_live(pod)]
    if not own and not (workload.replicas == 0 and not live.get("status", {}).get("desiredNumberScheduled", 0)):
        return [Problem(subject, "no pods", f"{workload.replicas or 'one or more'} pods")]
    problems = []
    for image in workload.images:
        problems.append(reference(f"template of {subject}", image, live["spec"]["template"]["spec"]))
        for pod in own:
            name = f"pod {pod['metadata']['name']}"
            problems.append(reference(name, image, pod["spec"]))
            problems.append(image_id(name, image, pod))
    problems += _unlisted(f"template of {subject}", live["spec"]["template"]["spec"], workload)
    problems += [found for pod in own for found in _unlisted(f"pod {pod['metadata']['name']}", pod["spec"], workload)]
    return [problem for problem in problems if problem]


def reference(subject: str, image: Image, spec: Json) -> Problem | None:
    """The spec of a pod names the contracted image for its container."""
    seen = next((c.get("image") for c in _containers(spec) if c["name"] == image.container), None)
    return _differs(f"{subject} container {image.container}", "image", seen, image.reference)


def image_id(subject: str, image: Image, pod: Json) -> Problem | None:
    """The container runs the contracted image, whatever its tag says. Without a promised id any image will do."""
    subject = f"{subject} container {image.container}"
    status = next((s for s in container_statuses(pod) if s["name"] == image.container), None)
    seen = (status or {}).get("imageID") or ""
    if not seen:
        return Problem(subject, "no image id in its status", "a running image")
    if image.image_id is None:
        return None
    return _differs(subject, "image id", _digest(seen), _digest(image.image_id))


def pods_of(live: Json, pods: list[Json]) -> list[Json]:
    """The pods that the workload's selector matches."""
    wanted = (live["spec"]["selector"].get("matchLabels") or {}).items()
    return [pod for pod in pods if wanted <= (pod["metadata"].get("labels") or {}).items()]


def _wanted(subject: str, workload: Workload, live: Json) -> tuple[int, list[Problem | None]]:
    if workload.kind == "DaemonSet" or workload.replicas is None:
        # One pod per node: the number moves with the nodes.
        desired = live.get("status", {}).get("desiredNumberScheduled", 0)
        least = 1 if workload.replicas is None else workload.replicas
        few = Problem(subject, f"{desired} pods desired", f"at least {least}")
        return max(desired, least), [few if desired < least else None]
    asked = live["spec"].get("replicas", 1)
    return workload.replicas, [_differs(subject, "replicas in its spec", asked, workload.replicas)]


def _revision(subject: str, workload: Workload, status: Json) -> list[Problem | None]:
    if workload.kind != "StatefulSet":
        return []
    update = status.get("updateRevision")
    if not update:
        return [Problem(subject, "no update revision", "an update revision")]
    return [_differs(subject, "current revision", status.get("currentRevision"), update)]


def _hashes(subject: str, kind: str, pods: list[Json], newest: str | None, wanted: int) -> list[Problem]:
    if not newest:
        return [Problem(subject, "newest revision unknown", "a revision to compare the pods with")]
    label = HASH_LABEL[kind]
    alive = [pod for pod in pods if is_live(pod)]
    stale = [pod for pod in alive if pod["metadata"]["labels"].get(label) != newest]
    problems = [
        Problem(f"pod {pod['metadata']['name']}", f"revision {pod['metadata']['labels'].get(label)}", newest)
        for pod in stale
    ]
    fresh = len(alive) - len(stale)
    if fresh != wanted:
        problems.append(Problem(subject, f"{fresh} pods of revision {newest}", f"{wanted} pods"))
    return problems


def _unlisted(subject: str, spec: Json, workload: Workload) -> list[Problem]:
    """Containers that the contract does not know: injected by a webhook, or attached to look into the pod."""
    named = {image.container for image in workload.images}
    named |= {c["name"] for c in spec.get("initContainers") or [] if c.get("image") in workload.init_images}
    return [
        Problem(f"{subject} container {c['name']}", f"image {c.get('image')}", "no such container in the contract")
        for c in _containers(spec)
        if c["name"] not in named
    ]


def _containers(spec: Json) -> list[Json]:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [container for kind in kinds for container in spec.get(kind) or []]


def _digest(image_id: str) -> str:
    """The digest alone: container runtimes put a reference and `@` in front of it."""
    return image_id.rsplit("@", 1)[-1].removeprefix("docker://").removeprefix("sha256:")


def _differs(subject: str, what: str, seen: object, expected: object) -> Problem | None:
    return None if seen == expected else Problem(subject, f"{what} {seen}", str(expected))
