"""What a user does, for the live tests: words of the Makefile, the engine, kubectl, and questions to Prometheus."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import yaml

from cli.engine import engine_for
from sandbox import hosttools
from sandbox.cluster.ownership import machine_lock
from sandbox.cluster.start import ctr
from sandbox.home import find_home
from sandbox.images import build as images
from sandbox.programs.build import binary
from sandbox.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
STATE: Final = os.environ.get("PLUMBLINE_TEST_STATE", "test")
OUT: Final = ROOT / ".out" / STATE
NAMESPACE: Final = "plumbline"
PRINTED: Final[dict[str, str]] = {}
"""`make …` → what it printed when it last ran to a good end in this session."""

# Deadlines of checks that wait for a stack to settle. A fault that was awaited is there: waiting longer shows no more.
_HURRIED: Final = """
import sys
from smoke import limits
from smoke.main import main
for name in ("SETTLE", "TARGETS", "RULES", "CONFIG_PROPAGATION", "DELIVERY", "TELEMETRY", "SPAN_METRICS"):
    setattr(limits, name, min(getattr(limits, name), float(sys.argv[1])))
limits.LEAST_WAIT = 1.0
sys.exit(main(sys.argv[2:]))
"""


def words(
    *arguments: str, root: Path = ROOT, timeout: float = 900, boards: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run `make …` as a user does and return what it printed; both streams in `stdout`. boards: drawn in the report."""
    done = subprocess.run(
        ["make", "--no-print-directory", "-C", str(root), *arguments],
        env={**os.environ, "BOARDS": "yes" if boards else "no"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode == 0:
        PRINTED[" ".join(("make", *arguments))] = done.stdout
    return done


def pulumi(*arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """Run the literal `pulumi …` in a shell that took the line of `make env`."""
    line = subprocess.run(
        ["make", "--no-print-directory", "env"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    ).stdout
    return subprocess.run(
        ["bash", "-c", 'eval "$1"; shift; exec pulumi "$@"', "bash", line, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )


def kubectl(*arguments: str, stdin: str | None = None, check: bool = True, timeout: float = 180) -> str:
    """Run kubectl on the test cluster."""
    done = subprocess.run(
        [*_client(), *arguments], input=stdin, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert not check or done.returncode == 0, f"kubectl {arguments} failed: {done.stderr}"
    return done.stdout


def _client() -> list[str]:
    state = find_home().state(STATE)
    return [str(binary(find_home(), "kubectl")), f"--kubeconfig={state}/kubeconfig", "--context=plumbline-local"]


@contextmanager
def forwarded(resource: str, port: int, namespace: str = NAMESPACE) -> Iterator[str]:
    """A port of a pod or Service on loopback: its address as `http://127.0.0.1:<port>`."""
    argv = [*_client(), "port-forward", "--address=127.0.0.1", "-n", namespace, resource, f":{port}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.search(r"127\.0\.0\.1:\d+", line)
            assert found, f"no port-forward to {namespace}/{resource}: {line}"
            yield f"http://{found[0]}"
        finally:
            process.terminate()


def get(*arguments: str) -> dict[str, Any]:
    """`kubectl get … -o json`."""
    return dict(json.loads(kubectl("get", *arguments, "-o", "json")))


def smoke(
    *arguments: str, contract: Path | None = None, root: Path = ROOT, patience: float | None = None
) -> tuple[int, dict[str, dict[str, Any]], str]:
    """Run smoke; exit code, check id → its row of the report, and what it printed.

    root: the checkout whose smoke runs. patience: seconds after which a check that waits gives up, for faults that are
    known to be there; never for a verdict that is to be green.
    """
    program = ["-m", "smoke"] if patience is None else ["-c", _HURRIED, str(patience)]
    done = subprocess.run(
        [
            *(sys.executable, *program, "--contract", str(contract or OUT / "contract.json"), "--out", str(OUT)),
            *("--kubeconfig", str(find_home().state(STATE) / "kubeconfig"), *arguments),
        ],
        cwd=root,
        env={**os.environ, "PATH": f"{binary(find_home(), 'kubectl').parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    report = json.loads((OUT / "report.json").read_text())
    return done.returncode, {check["id"]: check for check in report["checks"]}, done.stdout


def query(expression: str, at: float | None = None) -> list[dict[str, Any]]:
    """Instant query through the API server's proxy to the Prometheus pod."""
    moment = f"&time={at}" if at is not None else ""
    path = (
        f"/api/v1/namespaces/{NAMESPACE}/services/prometheus:9090/proxy/api/v1/query?query={quote(expression)}{moment}"
    )
    answer = json.loads(kubectl("get", "--raw", path))
    assert answer["status"] == "success", answer
    return list(answer["data"]["result"])


def until(what: str, probe: Callable[[], bool], seconds: float = 120) -> None:
    """Poll; the assertion names what did not come."""
    deadline = time.monotonic() + seconds
    while not probe():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:.0f} s"
        time.sleep(1)


def prometheus_ready() -> bool:
    """Whether the pod is ready and not on its way out."""
    pods = [p for p in get("pods", "-n", NAMESPACE)["items"] if p["metadata"]["name"].startswith("prometheus-")]
    return len(pods) == 1 and all(
        "deletionTimestamp" not in p["metadata"]
        and any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", []))
        for p in pods
    )


def shell_image() -> str:
    """An image of the cluster that has a shell."""
    return str(json.loads((find_home().state(STATE) / "images.json").read_text())["volume-helper"]["reference"])


def images_of_tests(*roles: str) -> dict[str, str]:
    """Role → reference of every image; those of `roles`, which no user needs, are brought into the cluster first."""
    home, progress = find_home(), Progress()
    tools = hosttools.ensure(home, progress)
    with machine_lock("images of live tests"):
        built = images.ensure(home, tools, progress, tests=True)
        there = set(ctr(tools, "images", "list", "-q").split())
        for role in roles:
            if built[role].reference not in there:
                ctr(tools, "images", "import", str(built[role].archive))
    return {role: image.reference for role, image in built.items()}


def connects(namespace: str, address: str, port: int) -> bool:
    """Whether a pod of `namespace` reaches a TCP port: real packets through the policy engine.

    The policy engine learns of a new pod some seconds after its start, and refuses it until then. So the pod asks
    again and again: one who may not enter must fail at every try.
    """
    tries = f"for i in 1 2 3 4 5 6 7 8 9 10; do nc -w 3 {address} {port} </dev/null && exit 0; sleep 1; done; exit 1"
    name = f"probe-{time.time_ns() % 10**9}"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "restartPolicy": "Never",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65534,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "probe",
                    "image": shell_image(),
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["/bin/sh", "-c", tries],
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                }
            ],
        },
    }
    kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    try:
        until(
            "the probe ends",
            lambda: get(f"pod/{name}", "-n", namespace)["status"]["phase"] in ("Succeeded", "Failed"),
            90,
        )
        return bool(get(f"pod/{name}", "-n", namespace)["status"]["phase"] == "Succeeded")
    finally:
        kubectl("delete", "pod", name, "-n", namespace, "--grace-period=0", "--force")


def tag_image(reference: str, other: str) -> None:
    """Give an image of the cluster's runtime a second name."""
    tools = hosttools.ensure(find_home(), Progress())
    ctr(tools, "images", "tag", "--force", reference, other)


@contextmanager
def receivers_of(stack: str) -> Iterator[None]:
    """What a person makes before the first deployment of a durable stack: its namespace and the Secrets it names."""
    namespace = f"plumbline-{stack}"
    addresses = [f"--from-literal={key}=http://nobody.invalid/" for key in ("p0", "p1", "p2", "p3", "watchdog")]
    kubectl("create", "namespace", namespace)
    try:
        kubectl("create", "secret", "generic", "alert-receivers", "-n", namespace, *addresses)
        for name, key in (("grafana-login", "password"), ("grafana-encryption", "key")):
            kubectl("create", "secret", "generic", name, "-n", namespace, f"--from-literal={key}=of-nobody-{name}")
        yield
    finally:
        kubectl("delete", "namespace", namespace, "--timeout=120s")


def preview_elsewhere(stack: str, work: Path, **sections: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Preview another stack's committed file against the test cluster: a backend and a copy of the file of its own.

    sections: settings in place of the file's. The preview may be refused; everything before it may not.
    """
    state = find_home().state(STATE)
    local = yaml.safe_load((state / "Pulumi.local.yaml").read_text())["config"]["plumbline:cluster"]
    document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())
    here = {key: local[key] for key in ("uid", "context", "kubeconfig")}
    document["config"]["plumbline:cluster"] |= here
    document["config"]["plumbline:namespace"] = f"plumbline-{stack}"  # the deployed claims are none of its business
    document["config"] |= {f"plumbline:{name}": section for name, section in sections.items()}
    config = work / f"Pulumi.{stack}.yaml"
    config.write_text(yaml.safe_dump(document))
    (work / "backend").mkdir()
    engine = engine_for(find_home(), stack)
    environment = engine.environment() | {
        "PULUMI_BACKEND_URL": f"file://{work}/backend",
        "PULUMI_HOME": str(state / "pulumi-home"),
        "PULUMI_CONFIG_PASSPHRASE": "preview",
    }
    # `stack init` knows no --config-file and writes a salt into the project's stack file: let it be a copy's.
    shutil.copy(ROOT / "Pulumi.yaml", work)
    for arguments in (
        ("stack", "init", stack, "--cwd", str(work)),
        ("preview", "--diff", "--stack", stack, "--config-file", str(config)),
    ):
        done = subprocess.run(
            [str(binary(find_home(), "pulumi")), "--non-interactive", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0 or arguments[0] == "preview", done.stdout
    return done
