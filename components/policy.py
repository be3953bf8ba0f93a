"""Rules that every manifest must keep: pure functions from a manifest to complaints.

They run before anything is registered and over every golden manifest. What they let pass all the same is listed in
components/policy_exceptions.py: one complaint of one rule about one object each, with a reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from components.errors import DeployError
from components.objects import KEPT, POD_SECURITY, RETAIN, Manifest, identity
from components.policy_exceptions import EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from components.policy_exceptions import PolicyException

REQUIRED_LABELS = tuple(
    f"app.kubernetes.io/{key}" for key in ("name", "instance", "component", "part-of", "managed-by")
)
MAX_CONFIG_BYTES = 1_000_000
_SECRET_WORD = re.compile(r"password|passwd|token|secret|credential|api_?key|private_?key", re.IGNORECASE)
_SECRET_CONTENT = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "credentials inside a URL": re.compile(r"://[^/\s:@]+:[^/\s@]+@"),
    "a password or token": re.compile(
        r"^[\s\-\"']*(?:password|passwd|bearer_token|credentials|secret_key|secret_access_key|api_?key)[\"']?\s*[:=]"
        # An object in JSON says where the secret is, and so does Grafana's word for the content of a file.
        r"\s*(?!\{\s*\"|\$__file\{[^{}\s]+\}\s*$)\S",
        re.IGNORECASE | re.MULTILINE,
    ),
    "an access key": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
}


def violations(manifests: Iterable[Manifest]) -> list[str]:
    """Every broken rule as `Kind/namespace/name: what is wrong; what is accepted`, in the order of the manifests."""
    return [
        f"{identity(manifest)}: {complaint}"
        for manifest, rule, complaint in _complaints(manifests)
        if not any(exception.covers(manifest, rule, complaint) for exception in EXCEPTIONS)
    ]


def unused_exceptions(manifests: Iterable[Manifest]) -> list[PolicyException]:
    """Exceptions that cover no complaint about these manifests: doors that nothing goes through."""
    found = list(_complaints(manifests))
    return [exception for exception in EXCEPTIONS if not any(exception.covers(*complaint) for complaint in found)]


def _complaints(manifests: Iterable[Manifest]) -> Iterator[tuple[Manifest, str, str]]:
    return ((manifest, rule.__name__, found) for manifest in manifests for rule in RULES for found in rule(manifest))


def enforce(manifests: Iterable[Manifest]) -> None:
    """Raise DeployError with all violations, if there are any."""
    found = violations(manifests)
    if found:
        raise DeployError("manifests break rules of components/policy.py:\n" + "\n".join(f"- {line}" for line in found))


def pod_template(manifest: Manifest) -> Manifest | None:
    """The pod template of a workload, for a CronJob that of its Jobs; None for every other object."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return None
    found: Manifest | None = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    return found


def pod_spec(manifest: Manifest) -> Manifest | None:
    """The pod template's spec of a workload; None for every other object."""
    template = pod_template(manifest)
    return template["spec"] if template else None


def _containers(manifest: Manifest) -> Iterator[tuple[Manifest, Manifest]]:
    spec = pod_spec(manifest)
    if spec is not None:
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            yield spec, container


def _security(container: Manifest) -> Manifest:
    found: Manifest = container.get("securityContext", {})
    return found


def image_is_pinned(manifest: Manifest) -> Iterator[str]:
    """A tag that moves makes two pods of one roll-out run different programs."""
    for _, container in _containers(manifest):
        image = str(container.get("image", ""))
        tag = image.rsplit("/", 1)[-1].partition("@")[0].partition(":")[2]
        if "@sha256:" not in image and tag in ("", "latest"):
            yield f"container {container['name']} runs `{image}`; accepted is a tag other than `latest`, or a digest"


def runs_as_non_root(manifest: Manifest) -> Iterator[str]:
    """`runAsNonRoot` alone is refused at run time for an image with a named user, hence the number as well."""
    for spec, container in _containers(manifest):
        merged = {**spec.get("securityContext", {}), **_security(container)}
        if merged.get("runAsNonRoot") is not True or not merged.get("runAsUser"):
            yield f"container {container['name']} may run as root; accepted: runAsNonRoot true and runAsUser above 0"


def root_is_read_only(manifest: Manifest) -> Iterator[str]:
    """Nothing can be planted in the image's file system, and nothing of value is written outside a volume."""
    for _, container in _containers(manifest):
        if _security(container).get("readOnlyRootFilesystem") is not True:
            yield f"container {container['name']} has a writable root; accepted: readOnlyRootFilesystem true"


def has_no_privileges(manifest: Manifest) -> Iterator[str]:
    """No way up: not by setuid programs, not by capabilities, not by system calls, not through the node."""
    for spec, container in _containers(manifest):
        name, security = container["name"], _security(container)
        if security.get("privileged"):
            yield f"container {name} is privileged"
        if security.get("allowPrivilegeEscalation") is not False:
            yield f"container {name} can gain privileges; accepted: allowPrivilegeEscalation false"
        capabilities = security.get("capabilities", {})
        if "ALL" not in capabilities.get("drop", ()):
            yield f"container {name} keeps capabilities; accepted: drop [ALL]"
        for added in capabilities.get("add", ()):
            yield f"container {name} adds capability {added}; accepted: none"
        profile = security.get("seccompProfile", spec.get("securityContext", {}).get("seccompProfile", {}))
        if profile.get("type") != "RuntimeDefault":
            yield f"container {name} has no seccomp filter; accepted: seccompProfile RuntimeDefault"


def stays_off_the_node(manifest: Manifest) -> Iterator[str]:
    """Host namespaces and host paths undo every other rule."""
    spec = pod_spec(manifest) or {}
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(key):
            yield f"{key} is set"
    for volume in spec.get("volumes", ()):
        if "hostPath" in volume:
            access = "writable" if _is_writable(manifest, volume["name"]) else "read-only"
            yield f"volume {volume['name']} mounts the node's {volume['hostPath'].get('path')} {access}"


def _is_writable(manifest: Manifest, volume: str) -> bool:
    mounts = (mount for _, container in _containers(manifest) for mount in container.get("volumeMounts", ()))
    return any(mount["name"] == volume and mount.get("readOnly") is not True for mount in mounts)


def has_requests_and_limits(manifest: Manifest) -> Iterator[str]:
    """Requests for scheduling, a memory limit against taking the node along.

    No limit of processor time is asked for: requests already share it fairly, and throttling a monitoring program
    makes gaps in data exactly when the node is busy.
    """
    for _, container in _containers(manifest):
        resources = container.get("resources", {})
        wanted = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
        missing = [f"{kind}.{what}" for kind, what in wanted if not resources.get(kind, {}).get(what)]
        if missing:
            yield f"container {container['name']} lacks resources {', '.join(missing)}"


def has_probes(manifest: Manifest) -> Iterator[str]:
    """Without readiness a roll-out counts as done the moment the process starts, and a sidecar as started."""
    first = (pod_spec(manifest) or {}).get("initContainers", ())
    for _, container in _containers(manifest):
        if container not in first and "readinessProbe" not in container:
            yield f"container {container['name']} has no readinessProbe"
        if container in first and container.get("restartPolicy") == "Always" and "startupProbe" not in container:
            yield f"sidecar {container['name']} has no startupProbe; what needs it would start before it answers"


def is_labelled(manifest: Manifest) -> Iterator[str]:
    """What is not labelled is not found by selectors, cost reports and clean-up."""
    objects = {"": manifest["metadata"]}
    template = pod_template(manifest)
    if template is not None:
        objects["pod template "] = template["metadata"]
    for where, meta in objects.items():
        missing = [key for key in REQUIRED_LABELS if not meta.get("labels", {}).get(key)]
        if missing:
            yield f"{where}lacks labels {', '.join(missing)}"


def state_is_retained(manifest: Manifest) -> Iterator[str]:
    """State outlives the stack; a claim inside a StatefulSet's template would be outside Pulumi's view."""
    stateful = manifest["kind"] in ("PersistentVolumeClaim", "Namespace")
    if stateful and manifest["metadata"].get("annotations", {}).get(RETAIN) != "true":
        yield f"would be deleted with the stack; accepted: annotation {RETAIN}: 'true'"
    elif RETAIN in (found := manifest["metadata"].get("annotations", {})) and not KEPT.items() <= found.items():
        yield f"outlives the stack and could not be changed by the next one; accepted: annotations {KEPT}"
    if manifest.get("spec", {}).get("volumeClaimTemplates"):
        yield "has volumeClaimTemplates; accepted are claims of their own (components/storage.py)"


def namespace_is_restricted(manifest: Manifest) -> Iterator[str]:
    """What the rules here keep out of our manifests, the API server keeps out of everybody else's."""
    level = manifest["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce", "privileged")
    if manifest["kind"] == "Namespace" and level != POD_SECURITY:
        yield f"lets in pods of level {level}; accepted: pod-security.kubernetes.io/enforce {POD_SECURITY}"


def config_holds_no_secret(manifest: Manifest) -> Iterator[str]:
    """ConfigMaps, arguments and literal variables are readable by everyone who may look at a pod."""
    if manifest["kind"] == "ConfigMap":
        for key, text in manifest.get("data", {}).items():
            for what, pattern in _SECRET_CONTENT.items():
                if pattern.search(text):
                    yield f"data `{key}` seems to hold {what}; accepted is a file mounted from a Secret"
    for _, container in _containers(manifest):
        for variable in container.get("env", ()):
            if "value" in variable and _SECRET_WORD.search(variable["name"]):
                yield f"container {container['name']} has {variable['name']} in clear; accepted: valueFrom.secretKeyRef"
        for argument in (*container.get("command", ()), *container.get("args", ())):
            flag, _, value = str(argument).partition("=")
            if value and _SECRET_WORD.search(flag) and "file" not in flag:
                yield f"container {container['name']} has {flag} in clear; accepted is a file mounted from a Secret"


def config_can_change(manifest: Manifest) -> Iterator[str]:
    """A file mounted by subPath never follows its ConfigMap, and one over 1 MB is refused by the API server."""
    size = sum(len(key) + len(text.encode()) for key, text in manifest.get("data", {}).items())
    if manifest["kind"] == "ConfigMap" and size > MAX_CONFIG_BYTES:
        yield f"holds {size} bytes; accepted are at most {MAX_CONFIG_BYTES}"
    for _, container in _containers(manifest):
        for mount in container.get("volumeMounts", ()):
            if "subPath" in mount:
                yield f"container {container['name']} mounts {mount['mountPath']} by subPath, which is never updated"


def is_not_exposed(manifest: Manifest) -> Iterator[str]:
    """Nothing of the bundle has a login of its own yet, so nothing is reachable from outside the cluster."""
    kind = manifest.get("spec", {}).get("type", "ClusterIP") if manifest["kind"] == "Service" else "ClusterIP"
    if kind != "ClusterIP":
        yield f"is of type {kind}; accepted: ClusterIP"


RULES: tuple[Callable[[Manifest], Iterator[str]], ...] = (
    image_is_pinned,
    runs_as_non_root,
    root_is_read_only,
    has_no_privileges,
    stays_off_the_node,
    has_requests_and_limits,
    has_probes,
    is_labelled,
    state_is_retained,
    namespace_is_restricted,
    config_holds_no_secret,
    config_can_change,
    is_not_exposed,
)
