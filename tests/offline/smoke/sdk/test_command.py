"""`python -m smoke.sdk` as a user meets it: what cannot be used is explained, and a verdict is an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smoke.sdk import main as command
from smoke.sdk import report
from smoke.sdk.main import main
from smoke.sdk.matrix import read_matrix
from smoke.sdk.model import Outcome, Seen, Verdict
from smoke.sdk.regression import Regression
from stacks.contract import Cluster, Component, Contract, Endpoint, Experiments, Image, SecretRef, Workload
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = Image(container="server", reference="swanlab-server:v3.1.1")
SWANLAB = Component(
    tier="simulated",
    namespace="plumbline-swanlab",
    workloads=(Workload(kind="Deployment", name="server", replicas=1, images=(IMAGE,)),),
    endpoints={"http": Endpoint(service="swanlab-self-hosted", port=80)},
)
EXPERIMENTS = Experiments(
    sdk="0.8.4",
    host="http://swanlab-self-hosted",
    login=SecretRef(namespace="plumbline-swanlab", name="swanlab-api-key", key="api-key"),
    stores={},
    body_limit=1,
)


class FakeStack:
    """Stands for the stack: the API server, the key and the gateway."""

    uid = "uid"

    def __init__(self, contract: Contract, _: Path) -> None:
        self.contract = contract
        self.kube = self
        self.swanlab = self
        self.address, self.uses_proxies = "http://127.0.0.1:1", False

    def get(self, _: str) -> dict[str, Any]:
        return {"metadata": {"uid": self.uid}}

    def api_key(self) -> str:
        return "abcdefghijklmnopqrstu"

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def contract() -> Contract:
    """A contract with SwanLab."""
    return Contract(
        stack="local",
        cluster=Cluster(uid="uid", context="c", name="local", environment="test"),
        namespace="plumbline",
        capabilities=("experiments",),
        components={"swanlab": SWANLAB},
        scrape=(),
        rules=objects.RULES,
        experiments=EXPERIMENTS,
        expected_checks=(),
    )


def run(directory: Path, contract: Contract | None, *more: str) -> int:
    """The command in a directory; its exit code."""
    path = directory / "contract.json"
    if contract is not None:
        path.write_text(contract.model_dump_json(), encoding="utf-8")
    arguments = ["--contract", str(path), "--out", str(directory / "out"), "--cache", str(directory / "cache")]
    return main([*arguments, "--kubeconfig", str(directory / "kubeconfig"), *more])


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """The regression is played: it gives the last of this list."""
    monkeypatch.setattr(command, "Stack", FakeStack)
    found: list[Outcome] = []
    monkeypatch.setattr(Regression, "run", lambda _, about: Outcome(about, *vars_of(found[-1])))
    return found


def vars_of(outcome: Outcome) -> tuple[Any, ...]:
    """All but the subject."""
    return outcome.verdicts, outcome.faults, outcome.interrupted


def verdict(seen: str) -> Verdict:
    """What the round trip of 0.8.4 showed."""
    scenario = next(one for one in read_matrix().scenarios if one.name == "roundtrip")
    return Verdict("0.8.4", "roundtrip", scenario.expected["0.8.4"], Seen(seen))


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (Outcome("", (verdict("equal"),)), 0),
        (Outcome("", (verdict("different"),)), 1),
        (Outcome("", (verdict("equal"),), ("runs could not be removed",)), 1),
        (Outcome("", (verdict("equal"),), (), interrupted=True), 130),
        (Outcome(""), 1),
    ],
)
def test_the_verdict_is_the_exit_code(
    tmp_path: Path, contract: Contract, outcome: list[Outcome], made: Outcome, code: int
) -> None:
    outcome.append(made)
    assert run(tmp_path, contract) == code
    assert (tmp_path / "out" / report.NAME).exists()


def test_the_subject_stands_above_the_table(
    tmp_path: Path, contract: Contract, outcome: list[Outcome], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome.append(Outcome("", (verdict("equal"),)))
    run(tmp_path, contract)
    printed = capsys.readouterr().out
    assert "subject: a stand-in of SwanLab's servers (simulated): swanlab-server:v3.1.1" in printed
    real = SWANLAB.model_copy(update={"tier": "live"})
    run(tmp_path, contract.model_copy(update={"components": {"swanlab": real}}))
    assert "subject: SwanLab's own servers: swanlab-server:v3.1.1" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["absent", "broken", "without"])
def test_a_contract_that_cannot_be_used_is_explained(
    tmp_path: Path, contract: Contract, outcome: list[Outcome], capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    words = {
        "absent": "`make up` writes it",
        "broken": "is not a contract",
        "without": "has no SwanLab that takes runs",
    }
    if wrong == "broken":
        (tmp_path / "contract.json").write_text("{}", encoding="utf-8")
    given = contract.model_copy(update={"experiments": None}) if wrong == "without" else None
    assert run(tmp_path, given) == 2
    assert words[wrong] in capsys.readouterr().err
    assert outcome == []


def test_a_matrix_of_ones_own_is_the_one_that_counts(
    tmp_path: Path, contract: Contract, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = tmp_path / "matrix.toml"
    matrix.write_text('versions = ["0.9.8"]\n[scenarios]\n', encoding="utf-8")
    assert run(tmp_path, contract, "--matrix", str(matrix), "--sdk", "0.8.4") == 2
    assert "which has 0.9.8" in capsys.readouterr().err
    assert run(tmp_path, contract, "--matrix", str(tmp_path / "none.toml")) == 2
    assert "none.toml cannot be read" in capsys.readouterr().err


def test_an_unknown_version_is_refused_before_anything_runs(
    tmp_path: Path, contract: Contract, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, contract, "--sdk", "0.8.3") == 2
    assert "which has 0.7.20, 0.8.4, 0.8.5, 0.9.8, 0.10.3" in capsys.readouterr().err


def test_another_cluster_is_left_alone(
    tmp_path: Path,
    contract: Contract,
    outcome: list[Outcome],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(FakeStack, "uid", "another")
    assert run(tmp_path, contract) == 2
    assert "uid another" in capsys.readouterr().err
    assert outcome == []


def test_an_old_report_does_not_outlive_a_run_that_fails(tmp_path: Path, outcome: list[Outcome]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / report.NAME).write_text('{"green": true}', encoding="utf-8")
    assert run(tmp_path, None) == 2
    assert not (tmp_path / "out" / report.NAME).exists()
    assert outcome == []
