"""Starts the embedded cluster: preflight, remains removed, processes in order, each awaited."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import requests

from sandbox.cluster import (
    addons,
    commands,
    configs,
    daemons,
    facts,
    gpus,
    layout,
    network,
    ownership,
    pki,
    preflight,
    remains,
    workloads,
)
from sandbox.cluster.commands import Context
from sandbox.cluster.configs import Paths
from sandbox.errors import SandboxError
from sandbox.images.build import write_index
from sandbox.process import run
from sandbox.programs.build import binary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.hosttools import HostTools
    from sandbox.images.build import BuiltImage
    from sandbox.progress import Progress

PROCESS_SECONDS: Final = 60.0
API_SECONDS: Final = 120.0
NODE_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Cluster:
    """A started cluster, as later steps need it."""

    name: str
    paths: Paths
    uid: str
    started_now: bool

    @property
    def kubeconfig(self) -> Path:
        """Administrator's kubeconfig."""
        return self.paths.state / "kubeconfig"


def start(home: Home, name: str, tools: HostTools, images: Mapping[str, BuiltImage], progress: Progress) -> Cluster:
    """Start cluster `name`, or find it running whole. The caller holds the machine's lock.

    Whatever else of an embedded cluster runs or was killed here is ended first; its data stays.
    Raises SandboxError: see preflight; or a process that does not come up, with the end of its log.
    """
    paths = Paths(home.state(name))
    machine = facts.gather(home)
    preflight.check_machine(machine)
    preflight.check_strangers()
    context = Context(home, paths, tools, images["volume-helper"].reference)
    files = _render(context, machine, images["pause"].reference)
    inputs = _digest(context, files)
    if is_whole(paths):
        if _started_with(inputs):
            _import_images(paths, tools, images)
            _apply_workloads(context, images)
            return Cluster(name, paths, _uid(paths), started_now=False)
        progress.say("  the cluster runs with other programs or settings than this checkout's: it is started anew")
    with progress.step("remains of an earlier cluster"):
        remains.end_everything()
        remains.give_back(tools)
    preflight.check_room(home, machine)
    preflight.check_network()
    paths.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_location(paths.state)
    paths.volumes.mkdir(mode=0o711, exist_ok=True)
    pki.ensure(paths.pki)
    ownership.write_owner(ownership.Owner(paths.state, network.read_sysctls(), inputs))
    _write_configs(context, files)
    with progress.step("control plane"):
        _start_control_plane(context, images)
    with progress.step("node"):
        _start_node(context)
    _apply_workloads(context, images)
    return Cluster(name, paths, _uid(paths), started_now=True)


def _check_location(state: Path) -> None:
    """Volumes are recorded by absolute path: a copied state would write into, and could delete, the other's data."""
    record = state / "location"
    if not record.exists():
        record.write_text(f"{state}\n")
    elif record.read_text().strip() != str(state):
        raise SandboxError(
            f"the state in {state} was made in {record.read_text().strip()}, and its volumes point there",
            "move it back to that place; a copy cannot be started",
        )


def is_whole(paths: Paths) -> bool:
    """Whether every process of this state runs and the API server says it is ready."""
    owner = ownership.read_owner()
    if owner is None or owner.state != paths.state:
        return False
    return set(daemons.running(str(paths.state))) == set(commands.ALL) and _healthy(paths)


def _render(c: Context, machine: facts.Machine, pause: str) -> dict[str, str]:
    """Configuration files, by their path below the state's `config`."""
    provisioner = configs.provisioner(c.paths, c.helper_image)
    return {
        "containerd.toml": configs.containerd(c.paths, c.tools, machine, pause),
        "cni/10-plumbline.conflist": configs.cni(),
        "kubelet.yaml": configs.kubelet(c.paths, machine),
        "kube-proxy.yaml": configs.kube_proxy(c.paths),
        "Corefile": configs.corefile(c.paths),
        "resolv.conf": "",
        "provisioner/config.json": provisioner["config.json"],
        "addons.yaml": addons.manifests(provisioner),
        **gpus.sources(),
    }


def _digest(c: Context, files: Mapping[str, str]) -> str:
    """Changes when a program or a setting does: a cluster that runs the old ones must not pass for the new one."""
    lines = [
        command(c)
        for group in (commands.BEFORE_API, commands.CONTROL, commands.AFTER_NODE)
        for command in group.values()
    ]
    return hashlib.sha256(json.dumps([lines, commands.kubelet(c), dict(files)]).encode()).hexdigest()


def _started_with(inputs: str) -> bool:
    owner = ownership.read_owner()
    return owner is not None and owner.inputs == inputs


def _write_configs(c: Context, files: Mapping[str, str]) -> None:
    layout.KUBELET_ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    layout.KUBELET_MARK.write_text(f"kubelet of Plumbline's embedded cluster; state in {c.paths.state}\n")
    for name, content in files.items():
        path = c.paths.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    kubeconfig = c.paths.state / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(c.paths.kubeconfig("admin").read_text())


def _start(c: Context, name: str, command: Callable[[Context], list[str]]) -> int:
    path = f"{c.tools.bin}:{c.tools.tree}/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return daemons.start(name, command(c), mark=str(c.paths.state), logs=c.paths.logs, path=path)


def _start_control_plane(c: Context, images: Mapping[str, BuiltImage]) -> None:
    network.create_bridge()
    _forget_containers(c)
    pid = _start(c, "containerd", commands.containerd)
    _await(c, "the container runtime", lambda: _runtime_ready(c.tools), PROCESS_SECONDS, "containerd", pid)
    _import_images(c.paths, c.tools, images)
    _start(c, "etcd", commands.etcd)
    pid = _start(c, "kube-apiserver", commands.kube_apiserver)
    # Ready includes the bootstrap of RBAC: a scheduler that comes before it is refused and backs off for a minute.
    _await(c, "the API server", lambda: _api_ready(c.paths), API_SECONDS, "kube-apiserver", pid)
    # A class cannot be changed, only made anew; claims that are bound keep their volumes.
    kubectl(c.home, c.paths, "delete", "storageclass", addons.STORAGE_CLASS, "--ignore-not-found")
    kubectl(c.home, c.paths, "apply", "--server-side", "--force-conflicts", "-f", str(c.paths.config / "addons.yaml"))
    # Pods of the previous life are gone; their objects would read as restarted for ever.
    kubectl(c.home, c.paths, "delete", "pods", "--all", "--all-namespaces", "--force", "--grace-period=0")
    # A killed provisioner still holds its lease, and the next one would wait for it to expire.
    kubectl(c.home, c.paths, "delete", "leases,endpoints", "--all", f"--namespace={configs.PROVISIONER_NAMESPACE}")
    for name, command in commands.CONTROL.items():
        _start(c, name, command)


def _start_node(c: Context) -> None:
    begin = dt.datetime.now(dt.UTC).replace(microsecond=0)
    pid = _start(c, "kubelet", commands.kubelet)
    _await(c, "the node", lambda: _node_ready(c, begin), NODE_SECONDS, "kubelet", pid)
    # The policy engine gives up when the node object is not there yet.
    pids = {name: _start(c, name, command) for name, command in commands.AFTER_NODE.items()}
    for name, what, probe in (
        ("kube-proxy", "the service proxy", lambda: _answers("kube-proxy", "health")),
        ("kube-router", "the policy engine", lambda: network.has_chain(c.tools, "KUBE-ROUTER-FORWARD")),
        ("gpu-plugin", f"{layout.GPUS} GPUs on the node", lambda: _gpus_offered(c)),
    ):
        _await(c, what, probe, PROCESS_SECONDS, name, pids[name])
    lost = set(commands.ALL) - set(daemons.running(str(c.paths.state)))
    if lost:
        name = sorted(lost)[0]
        raise SandboxError(f"{name} ended at once:\n{daemons.tail(c.paths.logs, name)}", "read its log above")


def _await(c: Context, what: str, probe: Callable[[], bool], seconds: float, name: str, pid: int) -> None:
    daemons.wait_for(what, probe, seconds=seconds, name=name, pid=pid, logs=c.paths.logs)


def _forget_containers(c: Context) -> None:
    """Drop the runtime's records of containers that died with the machine or the last cluster; images stay."""
    if not (c.paths.state / "containerd/io.containerd.metadata.v1.bolt/meta.db").exists():
        return
    config = c.paths.config / "containerd-janitor.toml"
    text = (c.paths.config / "containerd.toml").read_text()
    config.write_text(text.replace("disabled_plugins = [", 'disabled_plugins = ["io.containerd.grpc.v1.cri", '))
    pid = _start(c, "containerd", lambda x: [str(x.tools.bin / "containerd"), "--config", str(config)])
    _await(c, "the container runtime", lambda: _runtime_ready(c.tools), PROCESS_SECONDS, "containerd", pid)
    ids = ctr(c.tools, "containers", "list", "-q").split()
    if ids:
        ctr(c.tools, "containers", "rm", *ids)
    daemons.end([daemons.running(str(c.paths.state))["containerd"]], grace=10)
    cri = c.paths.state / "containerd/io.containerd.grpc.v1.cri"
    remains.remove_tree(cri)


def _import_images(paths: Paths, tools: HostTools, images: Mapping[str, BuiltImage]) -> None:
    present = set(ctr(tools, "images", "list", "-q").split())
    archives = {image.reference: image.archive for image in images.values()}  # roles may share an image
    for reference, archive in archives.items():
        if reference not in present:
            ctr(tools, "images", "import", str(archive))
    write_index(images, paths.state / "images.json")


def _apply_workloads(c: Context, images: Mapping[str, BuiltImage]) -> None:
    """The sandbox's own pods. Not part of what the cluster is started with: their new image restarts them alone."""
    path = c.paths.config / "workloads.yaml"
    path.write_text(workloads.manifests(images["alert-sink"].reference))
    kubectl(c.home, c.paths, "apply", "--server-side", "--force-conflicts", "-f", str(path))


def ctr(tools: HostTools, *arguments: str) -> str:
    """Run the runtime's client in Kubernetes' namespace and return what it printed."""
    argv = [str(tools.bin / "ctr"), "--address", str(layout.CONTAINERD_SOCKET), "--namespace", "k8s.io", *arguments]
    return run(argv, timeout=300).stdout


def kubectl(home: Home, paths: Paths, *arguments: str) -> str:
    """Run kubectl as administrator of this very cluster and return what it printed."""
    argv = [str(binary(home, "kubectl")), f"--kubeconfig={paths.state}/kubeconfig", f"--context={layout.CONTEXT}"]
    return run([*argv, *arguments], timeout=120, env={**layout.direct(os.environ), "HOME": str(paths.state)}).stdout


def _runtime_ready(tools: HostTools) -> bool:
    argv = [str(tools.bin / "ctr"), "--address", str(layout.CONTAINERD_SOCKET), "version"]
    return layout.CONTAINERD_SOCKET.exists() and run(argv, timeout=30, check=False).code == 0


def _session() -> requests.Session:
    """No proxy of the environment stands between this machine and itself."""
    session = requests.Session()
    session.trust_env = False
    return session


def _answers(process: str, purpose: str, path: str = "/healthz") -> bool:
    try:
        return _session().get(f"http://{layout.LOOPBACK}:{layout.port(process, purpose)}{path}", timeout=2).ok
    except requests.RequestException:
        return False


def _get(paths: Paths, path: str) -> requests.Response | None:
    try:
        return _session().get(
            f"{layout.API_URL}{path}",
            cert=(str(paths.pki / "admin.crt"), str(paths.pki / "admin.key")),
            verify=str(paths.pki / "ca.crt"),
            timeout=5,
        )
    except requests.RequestException:
        return None


def _healthy(paths: Paths) -> bool:
    """A process that exists may hang: each that has a health port must answer there."""
    return _api_ready(paths) and _answers("kube-proxy", "health") and _answers("coredns", "health", path="/health")


def _api_ready(paths: Paths) -> bool:
    answer = _get(paths, "/readyz")
    return answer is not None and answer.ok


def _node_ready(c: Context, since: dt.datetime) -> bool:
    """Ready by its own word, spoken after `since`: the object remembers the previous life."""
    answer = _get(c.paths, f"/api/v1/nodes/{layout.NODE_NAME}")
    if answer is None or not answer.ok:
        return False
    node = json.loads(answer.text)
    ready = [s for s in node["status"].get("conditions", []) if s["type"] == "Ready" and s["status"] == "True"]
    fresh = any(dt.datetime.fromisoformat(s["lastHeartbeatTime"]) >= since for s in ready)
    return fresh and bool(node["spec"].get("podCIDR"))


def _gpus_offered(c: Context) -> bool:
    """Whether pods can request every GPU. The kubelet is asked too: the node object remembers its previous life."""
    if gpus.healthy(layout.KUBELET_ROOT / "pod-resources/kubelet.sock") != layout.GPUS:
        return False
    answer = _get(c.paths, f"/api/v1/nodes/{layout.NODE_NAME}")
    return answer is not None and answer.ok and gpus.offered(json.loads(answer.text)) == layout.GPUS


def _uid(paths: Paths) -> str:
    answer = _get(paths, "/api/v1/namespaces/kube-system")
    if answer is None or not answer.ok:
        raise SandboxError("the API server does not tell the uid of namespace kube-system", f"read {paths.logs}")
    return str(json.loads(answer.text)["metadata"]["uid"])
