"""SwanLab for the live tests: SDKs that log, what is read back of it, and the settings with which it is deployed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import requests
import yaml

from components.swanlab.names import (
    API_KEY_KEY,
    API_KEY_SECRET,
    BUFFER,
    GATEWAY_SERVICE,
    SECRETS,
    SERVICES,
)
from sandbox.home import find_home
from sandbox.programs.build import binary
from smoke.access.errors import AccessError
from smoke.access.swanlab import SwanLab
from smoke.sdk import compare
from smoke.sdk.drive import Address, drive
from smoke.sdk.environments import ensure, read_lock
from smoke.sdk.reading import SwanLabReader, read_back
from tests.live.plumbline import OUT, STATE, get, pulumi, until
from tests.live.swanlab_pods import SPACE, rolled_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from sandbox.faults.proxy import Proxy
    from smoke.sdk.model import Ended, LoggedRun, ReadBack

Json = dict[str, Any]
PROJECT: Final = "plumbline-live"
# What was acknowledged is stored some seconds later, so a reading counts as the last one after so many without change.
QUIET: Final = 12.0
HANG_AFTER: Final = 240.0


@dataclass(frozen=True)
class Site:
    """One installation. url: of its gateway. store: address of the object store that signed addresses name."""

    url: str
    key: str
    store: str

    def client(self) -> SwanLab:
        """Its API, in a session of its own."""
        return SwanLab("SwanLab", lambda: self.url, lambda: None, key=lambda: self.key)

    def read(self, run: LoggedRun) -> ReadBack:
        """All of a run, read now. Raises AccessError."""
        return read_back(SwanLabReader(self.client()), run)

    def differences(self, run: LoggedRun) -> tuple[str, ...]:
        """In what the run that is read differs from what was logged; one that cannot be read differs."""
        try:
            return compare.differences(run, self.read(run))
        except AccessError as error:
            return (f"{error.subject}: {error}",)


def site() -> Site:
    """The installation under test, as the machine reaches it: by the Service's own address."""
    service = get(f"service/{GATEWAY_SERVICE}", "-n", SPACE)["spec"]
    public = setting("swanlab.stores.s3.public", None)
    url = f"http://{service['clusterIP']}:{service['ports'][0]['port']}"
    key = secret(API_KEY_SECRET)[API_KEY_KEY]
    return Site(url, key, f"http://{public['endpoint']}:{public['port']}")


def secret(name: str, namespace: str = SPACE) -> dict[str, str]:
    """The decoded content of a Secret."""
    return {
        key: base64.b64decode(value).decode() for key, value in get(f"secret/{name}", "-n", namespace)["data"].items()
    }


def interpreter() -> Path:
    """Python of an environment with the SDK that the stack pins."""
    version = json.loads((OUT / "contract.json").read_text())["experiments"]["sdk"]
    return ensure(read_lock(version), find_home().cache / "sdk", print)


@contextmanager
def logging(where: Site, work: Path, through: Proxy | None = None, **plan: int) -> Iterator[Future[Ended]]:
    """A training script that logs one run while the block lasts; its end is awaited, also after a failure.

    through: a proxy by which it reaches the gateway and the object store. plan: keys, steps, lines of the driver.
    """
    python = interpreter()
    if through is not None:
        program = work / f"through-{secrets.token_hex(4)}"
        program.write_text(f'#!/bin/sh\nunset no_proxy NO_PROXY\nexport http_proxy={through.url}\nexec {python} "$@"\n')
        program.chmod(0o755)
        python = program
    run = f"live-{secrets.token_hex(4)}"
    whole = {"scenario": "roundtrip", "project": PROJECT, "run": run, "seed": secrets.randbelow(1 << 31), **plan}
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(drive, python, whole, Address(where.url, where.key), HANG_AFTER)


def ended(future: Future[Ended], *, may_raise: bool = False) -> LoggedRun:
    """What was logged, once the script has ended. One that hangs, or never began its run, fails the test.

    may_raise: whether the SDK may raise in the script, which else fails the test too.
    """
    found = future.result(HANG_AFTER + 60)
    assert not found.hang, f"the SDK hangs; it had come to {found.result.stage if found.result else 'nothing'}"
    assert found.result is not None, found.tail
    assert found.result.runs, (found.result.raised, found.tail)
    assert may_raise or not found.result.raised, found.result.raised
    return found.result.runs[0]


def logged(where: Site, work: Path, **plan: int) -> LoggedRun:
    """A run that was logged without any trouble, all of it read back."""
    with logging(where, work, None, **plan) as future:
        run = ended(future)
    arrives(where, run)
    return run


def arrives(where: Site, run: LoggedRun, seconds: float = 120) -> None:
    """Wait until all of a run is read back, and say what is missing when it is not."""
    deadline = time.monotonic() + seconds
    while found := where.differences(run):
        assert time.monotonic() < deadline, f"within {seconds:.0f} s not all came back: {found}"
        time.sleep(2)


def settled(where: Site, run: LoggedRun, seconds: float = 180) -> tuple[str, ...]:
    """The differences that stay: the same in every reading for QUIET seconds."""
    deadline = time.monotonic() + seconds
    last, since = where.differences(run), time.monotonic()
    while time.monotonic() - since < QUIET:
        assert time.monotonic() < deadline, f"it does not come to rest within {seconds:.0f} s: {last}"
        time.sleep(2)
        found = where.differences(run)
        if found != last:
            last, since = found, time.monotonic()
    return last


def forget(where: Site, run: LoggedRun) -> None:
    """Delete a run that lost something: each later restore point would rightly be told to lack it."""
    client = where.client()
    project, _, name = run.path.rpartition("/")
    client.delete_run(client.target(project, name))


@dataclass(frozen=True)
class Kept:
    """What must outlive a change. passwords: Secret → SHA-256 of its content. claims: name → uid."""

    key: str
    account: str
    passwords: dict[str, str]
    claims: dict[str, str]
    run: LoggedRun

    def lost(self) -> list[str]:
        """What is not as it was, in words; empty when all is."""
        now = Site(site().url, self.key, site().store)
        found = [
            f"Secret {name} is another" for name, digest in self.passwords.items() if _digests().get(name) != digest
        ]
        found += [f"claim {name} is another" for name, uid in self.claims.items() if _claims().get(name) != uid]
        account = now.client().user()
        found += [] if account == self.account else [f"the key is {account}'s, and was {self.account}'s"]
        return [*found, *now.differences(self.run)]


def remember(work: Path) -> Kept:
    """Log a run, and keep in mind what a change may not touch."""
    where = site()
    run = logged(where, work, keys=1, steps=100)
    return Kept(where.key, where.client().user(), _digests(), _claims(), run)


def _digests() -> dict[str, str]:
    found = {item["metadata"]["name"]: item["data"] for item in get("secrets", "-n", SPACE)["items"]}
    known = {name: found[name] for name in SECRETS.values() if name in found}
    assert known, f"namespace {SPACE} has none of the Secrets {', '.join(SECRETS.values())}"
    return {name: hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest() for name, data in known.items()}


def _claims() -> dict[str, str]:
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in get("pvc", "-n", SPACE)["items"]}


def everything_runs() -> None:
    """Wait until every program is there, and those behind the gateway answer: a running pod may still start."""
    for program in (*SERVICES, BUFFER, "postgres", "redis", "clickhouse"):
        rolled_out(program)
    until("SwanLab lets the key in", _lets_in, 120)
    until("what takes the points answers", lambda: fetch(f"{site().url}/api/house/health").ok, 120)


def _lets_in() -> bool:
    try:
        return bool(site().client().user())
    except AccessError:
        return False


@contextmanager
def settings(values: dict[str, object]) -> Iterator[None]:
    """Settings of the stack while the block lasts. values: path below `plumbline:` → value."""
    before = _stack_file().read_text()
    try:
        for path, value in values.items():
            set_to(path, value)
        yield
    finally:
        _stack_file().write_text(before)


def set_to(path: str, value: object) -> None:
    """Change a setting in the stack's file."""
    document = yaml.safe_load(_stack_file().read_text())
    section, *between, last = path.split(".")
    place = document["config"].setdefault(f"plumbline:{section}", {})
    for name in between:
        place = place.setdefault(name, {})
    place[last] = value
    _stack_file().write_text(yaml.safe_dump(document))


def setting(path: str, default: object) -> Any:  # noqa: ANN401  # settings differ in type
    """A setting in the stack's file."""
    section, *rest = path.split(".")
    place = yaml.safe_load(_stack_file().read_text())["config"][f"plumbline:{section}"]
    for name in rest:
        place = place.get(name, default)
    return place


def _stack_file() -> Path:
    return find_home().state(STATE) / "Pulumi.local.yaml"


def deploy() -> None:
    """`pulumi up`, and wait until SwanLab answers again."""
    done = pulumi("up", "-s", "local", "--yes", "--skip-preview", "--non-interactive", timeout=900)
    assert done.returncode == 0, done.stdout
    everything_runs()


def fetch(url: str, **more: Any) -> requests.Response:  # noqa: ANN401  # as requests takes them
    """GET without the machine's proxies."""
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, timeout=30, **more)


def with_kubectl() -> dict[str, str]:
    """The environment of a program that needs kubectl."""
    return {**os.environ, "PATH": f"{binary(find_home(), 'kubectl').parent}:{os.environ['PATH']}"}
