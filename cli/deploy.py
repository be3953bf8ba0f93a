"""`up`, `preview` and `smoke`: the engine's work on a stack and the proof that follows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from cli import clients, debug_file, embedded, stackfile
from cli.engine import EMBEDDED, ROOT, Engine, engine_for
from cli.recovery_key import public_key
from sandbox import activation
from sandbox.cluster import facts, ownership, preflight
from sandbox.cluster.configs import Paths
from sandbox.cluster.layout import CONTEXT
from sandbox.cluster.start import is_whole
from sandbox.errors import SandboxError
from sandbox.programs import build as programs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sandbox.cluster.start import Cluster
    from sandbox.home import Home
    from sandbox.progress import Progress

ENGINE_PROGRAMS: Final = (
    "pulumi",
    "pulumi-language-python",
    "pulumi-resource-kubernetes",
    "kubernetes",
    "prometheus",
    "alertmanager",
)
_LINTERS: Final = {"plumbline:otel_collector": "otel-collector", "plumbline:traces": "jaeger"}
"""Section of a stack file → program that judges its configuration. Each takes minutes to build, so it is not built for
a stack that does not name it."""
IMPACTS: Final = {"smoke": "sentinel", "prove": "disruptive"}


def up(home: Home, stack: str, progress: Progress) -> int:
    """Deploy a stack and prove it. Returns the exit code: 0 only when smoke is green."""
    engine = engine_for(home, stack)
    drawn(os.environ)
    begin = time.monotonic()
    forget_verdict(engine)
    if engine.state is not None:
        embedded.build(home, progress)
    else:
        wanted = engine_programs(engine)
        programs.ensure(home, wanted, progress)
        programs.prune(home, wanted, progress)
    with guard(engine, "make up"):
        if engine.state is not None:
            _prepare_embedded(engine, progress)
        engine.select()
        engine.unlock()
        code = _update(engine)
        if code != 0:
            print(f"error: pulumi up failed on stack {stack}\n  next: read the engine's words above", file=sys.stderr)
            return code
        if engine.state is not None:
            _activate(engine, engine.state, progress)
        _mend_debug_windows(engine, progress)
        code = prove(engine, "smoke")
    if code == 0:
        print(_addresses(engine))
        print(f"up and proven in {time.monotonic() - begin:.0f} s")
    return code


def _mend_debug_windows(engine: Engine, progress: Progress) -> None:
    """The engine leaves alone what `make debug-logs` writes, and so what anybody else wrote there."""
    contract = write_contract(engine, out_directory(engine))
    promised = json.loads(contract.read_text(encoding="utf-8"))
    agent = (promised.get("telemetry") or {}).get("agent")
    if agent is not None:
        where = debug_file.Agents(agent["namespace"], agent["name"])
        debug_file.mend(clients.kubectl_of(engine, contract), where, progress)


def engine_programs(engine: Engine) -> tuple[str, ...]:
    """Programs that the engine needs to deploy this stack."""
    path = engine.config_file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return (*ENGINE_PROGRAMS, *(program for section, program in _LINTERS.items() if section in text))


def preview(home: Home, stack: str, progress: Progress) -> int:
    """Show what `up` would change. For `local` the cluster must be running."""
    engine = engine_for(home, stack)
    if engine.state is not None:
        require_running(engine)
    programs.ensure(home, engine_programs(engine), progress)
    engine.select()
    return engine.attached("preview", "--diff", "--stack", stack)


def smoke(home: Home, stack: str, kind: str) -> int:
    """Run the smoke suite (`smoke`), or with the disruptive checks (`prove`), against a deployed stack."""
    engine = engine_for(home, stack)
    drawn(os.environ)
    with guard(engine, f"make {kind}"):
        forget_verdict(engine)
        if engine.state is not None:
            require_running(engine)
        if kind == "prove" and is_durable(engine):
            raise SandboxError(
                f"make prove kills pods and stack {stack} is durable", "run make smoke on it; prove a copy"
            )
        return prove(engine, kind)


def require_running(engine: Engine) -> None:
    """Raise SandboxError unless the embedded cluster of this state runs whole."""
    if engine.state is not None and not is_whole(Paths(engine.state)):
        raise SandboxError(f"the embedded cluster {engine.state.name!r} does not run", "run make up")


def drawn(environment: Mapping[str, str]) -> bool:
    """Whether the report draws the boards, by the word in BOARDS. Raises SandboxError for another word."""
    word = environment.get("BOARDS", "yes")
    if word not in ("yes", "no"):
        raise SandboxError(f"BOARDS is {word!r}, which says neither yes nor no", "give yes, or no for a report without")
    return word == "yes"


def prove(engine: Engine, kind: str) -> int:
    """Refresh the contract from the stack's outputs and run smoke on it."""
    out = out_directory(engine)
    contract = write_contract(engine, out)
    argv = [sys.executable, "-m", "smoke", "--contract", str(contract), "--out", str(out)]
    argv += ["--impact", IMPACTS[kind], *(["--boards"] if drawn(os.environ) else [])]
    kubeconfig = (stackfile.config(engine.config_file).get("plumbline:cluster") or {}).get("kubeconfig")
    if kubeconfig:
        argv += ["--kubeconfig", str(kubeconfig)]
    environment = engine.environment() | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=ROOT, env=environment, check=False).returncode


def forget_verdict(engine: Engine) -> None:
    """Remove the last report: whatever ends before smoke judges again must not leave an old green behind."""
    for suffix in ("json", "html", "md", "xml"):
        (out_directory(engine) / f"report.{suffix}").unlink(missing_ok=True)


def out_directory(engine: Engine) -> Path:
    """`.out/<stack>`, or `.out/<state>` when `local` is deployed into another state (tests)."""
    return ROOT / ".out" / (engine.state.name if engine.state is not None else engine.stack)


def guard(engine: Engine, purpose: str) -> AbstractContextManager[None]:
    """For the embedded cluster the machine's lock, so that nobody stops it meanwhile; else nothing."""
    if engine.state is None:
        return nullcontext()
    preflight.check_machine(facts.gather(engine.home))
    return ownership.machine_lock(purpose)


def _prepare_embedded(engine: Engine, progress: Progress) -> Cluster:
    assert engine.state is not None  # noqa: S101  the caller's branch
    cluster = embedded.bring_up(engine.home, engine.state, progress)
    engine.prepare()
    stackfile.refresh(
        ROOT / "stacks" / f"Pulumi.{EMBEDDED}.yaml",
        engine.config_file,
        {
            "plumbline:cluster": {"uid": cluster.uid, "context": CONTEXT, "kubeconfig": str(cluster.kubeconfig)},
            "plumbline:images": {"path": str(engine.state / "images.json")},
            "plumbline:secrets": {"root_file": str(engine.state / "root-secret")},
            "plumbline:recovery": {"recovery_public_key": public_key(engine.state)},
        },
    )
    return cluster


def _update(engine: Engine) -> int:
    if not is_durable(engine):
        return engine.attached(
            "up", "--refresh", "--yes", "--skip-preview", "--suppress-outputs", "--stack", engine.stack
        )
    plan = out_directory(engine) / "plan.json"
    plan.parent.mkdir(parents=True, exist_ok=True)
    code = engine.attached("preview", "--refresh", "--diff", "--save-plan", str(plan), "--stack", engine.stack)
    if code != 0:
        return code
    if not sys.stdin.isatty():
        raise SandboxError(
            f"stack {engine.stack} is durable and there is nobody to confirm the plan", "run it in a terminal"
        )
    if input(f"apply exactly this plan to {engine.stack}? type the stack's name: ").strip() != engine.stack:
        raise SandboxError("not confirmed; nothing was changed", "run it again when the plan is right")
    return engine.attached("up", "--refresh", "--plan", str(plan), "--yes", "--skip-preview", "--stack", engine.stack)


def _activate(engine: Engine, state: Path, progress: Progress) -> None:
    """Let the sandbox play the person who activates SwanLab in a browser: only then checks have a key."""
    contract = json.loads(write_contract(engine, out_directory(engine)).read_text())
    if contract.get("experiments") is None:
        return
    key, gateway = contract["experiments"]["login"], contract["components"]["swanlab"]["endpoints"]["http"]
    kubectl = activation.kubectl_of(engine.home, state)
    words = ("-n", gateway["namespace"], "get", "service", gateway["service"], "-o", "jsonpath={.spec.clusterIP}")
    address = kubectl(words).strip()
    activation.activate(state, kubectl, key["namespace"], f"http://{address}:{gateway['port']}", progress)


def is_durable(engine: Engine) -> bool:
    """Whether the stack's file says `profile: durable`. An unreadable profile counts as durable: it asks first."""
    return bool(stackfile.config(engine.config_file).get("plumbline:profile") != "throwaway")


def write_contract(engine: Engine, out: Path) -> Path:
    """Write the deployed stack's contract, from its outputs, into a directory. Raises SandboxError without one."""
    if engine.stack not in engine.stacks():
        raise SandboxError(f"stack {engine.stack} has never been deployed", f"run make up STACK={engine.stack}")
    outputs = json.loads(engine.capture("stack", "output", "--json", "--stack", engine.stack) or "{}")
    if "contract" not in outputs:
        raise SandboxError(f"stack {engine.stack} has no output `contract`: its last update did not end", "run make up")
    out.mkdir(parents=True, exist_ok=True)
    target = out / "contract.json"
    temporary = target.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(outputs["contract"], indent=2, sort_keys=True) + "\n")
    temporary.replace(target)
    return target


def _addresses(engine: Engine) -> str:
    out = out_directory(engine)
    contract = json.loads((out / "contract.json").read_text())
    width = max(len(name) for name in ("component", *contract["components"]))
    lines = ["", f"  {'component':<{width}} reach it with"]
    for name, component in sorted(contract["components"].items()):
        for endpoint in component["endpoints"].values():
            namespace = endpoint.get("namespace") or contract["namespace"]
            forward = f"kubectl -n {namespace} port-forward svc/{endpoint['service']} {endpoint['port']}"
            how = endpoint.get("url") or (f"bin/{forward}" if engine.state is not None else forward)
            lines.append(f"  {name:<{width}} {how}")
    return "\n".join([*lines, f"  {'report':<{width}} {out / 'report.html'}", ""])
