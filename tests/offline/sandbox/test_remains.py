"""What a cluster left is removed, and nothing that leads into someone's data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import daemons, layout, remains
from sandbox.errors import SandboxError
from tests.offline.sandbox.fakes import program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Mount points of the machine; a test adds to them."""
    points = ["/", "/proc"]
    monkeypatch.setattr(remains, "mounts", lambda: list(points))
    return points


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The paths that every kubelet uses, with content. Returns their parent."""
    root = tmp_path / "var"
    for name in ("kubelet/pods/1", "pods/x", "containers"):
        (root / name).mkdir(parents=True)
    (root / "kubelet" / "cpu_manager_state").touch()
    (root / "kubelet" / ".plumbline").touch()
    monkeypatch.setattr(layout, "KUBELET_ROOT", root / "kubelet")
    monkeypatch.setattr(layout, "KUBELET_MARK", root / "kubelet" / ".plumbline")
    monkeypatch.setattr(layout, "KUBELET_PATHS", tuple(root / name for name in ("pods", "containers", "kubelet")))
    monkeypatch.setattr(layout, "CNI_STATE", root / "cni")
    return root


def test_mount_points_are_read_with_their_spaces_and_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [r"22 1 0:20 / /proc rw - proc proc rw", r"23 1 0:21 / /h/a\040b/ä\134 rw - tmpfs tmpfs rw"]
    (tmp_path / "mountinfo").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(remains, "MOUNTS", tmp_path / "mountinfo")
    assert remains.mounts() == ["/proc", "/h/a b/ä\\"]


def test_tree_is_deleted(tmp_path: Path, mounted: list[str]) -> None:
    (tmp_path / "tree" / "below").mkdir(parents=True)
    mounted.append(f"{tmp_path}/tree-of-another")
    remains.remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


@pytest.mark.parametrize("point", ["tree", "tree/volume"])
def test_tree_with_a_mount_in_it_is_not_deleted(tmp_path: Path, mounted: list[str], point: str) -> None:
    (tmp_path / "tree" / "volume").mkdir(parents=True)
    mounted.append(f"{tmp_path}/{point}")
    with pytest.raises(SandboxError, match=rf"is not deleted: {tmp_path}/{point} is mounted in it"):
        remains.remove_tree(tmp_path / "tree")
    assert (tmp_path / "tree" / "volume").is_dir()


def test_mount_is_seen_behind_a_symbolic_link(tmp_path: Path, mounted: list[str]) -> None:
    (tmp_path / "disk" / "state" / "volume").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    mounted.append(f"{tmp_path}/disk/state/volume")
    with pytest.raises(SandboxError, match="is mounted in it"):
        remains.remove_tree(tmp_path / "home" / "state")


def test_tree_whose_volume_a_pod_uses_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state" / "volumes" / "pvc-1").mkdir(parents=True)
    line = f"22 1 0:20 {tmp_path}/state/volumes/pvc-1 /var/lib/kubelet/pods/x/volumes/y rw - ext4 /dev/vda rw"
    (tmp_path / "mountinfo").write_text(line + "\n")
    monkeypatch.setattr(remains, "MOUNTS", tmp_path / "mountinfo")
    with pytest.raises(SandboxError, match="pvc-1 is in use by a pod"):
        remains.remove_tree(tmp_path / "state")
    assert (tmp_path / "state" / "volumes" / "pvc-1").is_dir()


@pytest.mark.usefixtures("mounted")
def test_tree_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    remains.remove_tree(tmp_path / "nothing")


def test_mounts_below_are_undone_last_first(mounted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mounted += ["/h/state/a", "/h/state/a/b", "/h/state-of-another/c", "/run/netns/cni-1", "/run/netns/mine"]
    undone: list[str] = []

    def umount(argv: list[str], **_: object) -> None:
        undone.append(argv[-1])
        mounted.remove(argv[-1])

    monkeypatch.setattr(remains, "run", umount)
    remains.unmount(["/h/state", "/run/netns/cni-"])
    assert undone == ["/run/netns/cni-1", "/h/state/a/b", "/h/state/a"]


def test_mount_that_stays_is_named(mounted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mounted.append("/h/state/a")
    monkeypatch.setattr(remains, "run", lambda *_, **__: None)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(SandboxError, match=r"still mounted: /h/state/a\n  next: .*fuser -m"):
        remains.unmount(["/h/state"])


@pytest.mark.usefixtures("mounted")
def test_paths_of_our_kubelet_are_removed(fixed: Path) -> None:
    remains._remove_fixed_paths()
    assert list(fixed.iterdir()) == []


@pytest.mark.usefixtures("mounted")
def test_paths_of_another_kubelet_stay(fixed: Path) -> None:
    (fixed / "kubelet" / ".plumbline").unlink()
    remains._remove_fixed_paths()
    assert sorted(p.name for p in fixed.iterdir()) == ["containers", "kubelet", "pods"]


@pytest.mark.usefixtures("mounted")
def test_mark_is_the_last_to_go(fixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A removal that is killed midway must leave a directory that the next start knows as ours.
    seen: list[list[str]] = []
    remove = remains.remove_tree

    def noted(path: Path) -> None:
        if path == fixed / "kubelet":
            seen.append([item.name for item in path.iterdir()])
        remove(path)

    monkeypatch.setattr(remains, "remove_tree", noted)
    remains._remove_fixed_paths()
    assert seen == [[".plumbline"]]


@pytest.mark.usefixtures("mounted")
def test_addresses_of_other_cni_networks_stay(fixed: Path) -> None:
    for path in ("networks/plumbline/10.203.0.5", "networks/podman/10.88.0.7"):
        (fixed / "cni" / path).parent.mkdir(parents=True)
        (fixed / "cni" / path).touch()
    (fixed / "cni" / "results").mkdir()
    for name in ("plumbline-a-eth0", "podman-b-eth0"):
        (fixed / "cni" / "results" / name).touch()
    remains._remove_fixed_paths()
    assert sorted(p.name for p in (fixed / "cni").rglob("*") if p.is_file()) == ["10.88.0.7", "podman-b-eth0"]


def test_only_namespaces_of_pods_are_removed(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(fake_bin, "ip", "exit 0")
    for name in ("cni-1", "mine"):
        (tmp_path / "netns").mkdir(exist_ok=True)
        (tmp_path / "netns" / name).touch()
    monkeypatch.setattr(remains, "NETNS", tmp_path / "netns")
    remains._remove_namespaces()
    assert [p.name for p in (tmp_path / "netns").iterdir()] == ["mine"]


@pytest.mark.parametrize("controllers", [[""], ["cpu", "memory"]], ids=["v2", "v1"])
def test_control_groups_of_pods_are_removed_bottom_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, controllers: list[str]
) -> None:
    for controller in controllers:
        (tmp_path / controller / "kubepods" / "burstable" / "pod1").mkdir(parents=True)
        (tmp_path / controller / "system.slice").mkdir()
    monkeypatch.setattr(remains, "CGROUP_ROOT", tmp_path)
    remains._remove_cgroups()
    assert not list(tmp_path.rglob("kubepods"))
    assert len(list(tmp_path.rglob("system.slice"))) == len(controllers)


def test_kubelet_is_ended_first_and_the_store_after_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    names = ("containerd", "etcd", "kube-apiserver", "coredns", "kubelet", "kube-proxy")
    monkeypatch.setattr(daemons, "running", lambda: {name: name for name in names})
    monkeypatch.setattr(daemons, "marked", lambda: ["shim"])
    monkeypatch.setattr(remains, "pod_cgroups", list)
    monkeypatch.setattr(daemons, "end", lambda targets, **_: order.extend(targets))
    remains.end_everything()
    assert order == ["kubelet", "kube-proxy", "coredns", "kube-apiserver", "etcd", "containerd", "shim"]
