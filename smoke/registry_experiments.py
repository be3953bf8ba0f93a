"""Checks of SwanLab and of the object store: what an SDK logs is taken, kept and given back, and nobody else may."""

from __future__ import annotations

from smoke.model import Check, Impact

SWANLAB = "swanlab"
OBJECT_STORE = "object-store"
EXPERIMENTS = ("experiments",)


def experiments() -> tuple[Check, ...]:
    """All of them, stores first."""
    return (*_objects(), *_experiments(), *_roundtrips())


def _objects() -> tuple[Check, ...]:
    needs = ("object-store",)
    return (
        Check(
            id="objects.roundtrip",
            requirement="B2",
            claim="What is written to the object store is read back equal, is deleted, and a wrong key is refused",
            remedy="read the log of the object store; compare its keys with the Secret that the contract names",
            impact=Impact.SENTINEL,
            needs=needs,
            component=OBJECT_STORE,
        ),
        Check(
            id="objects.anonymous",
            requirement="A8",
            claim="A stranger may read objects of the public bucket by name, and do nothing else",
            remedy="look at the identity `anonymous` in the configuration of the object store; run `make up`",
            impact=Impact.SENTINEL,
            needs=needs,
            component=OBJECT_STORE,
        ),
    )


def _experiments() -> tuple[Check, ...]:
    def own(id: str, requirement: str, claim: str, remedy: str, *, impact: Impact = Impact.READ) -> Check:
        return Check(
            id=id,
            requirement=requirement,
            claim=claim,
            remedy=remedy,
            impact=impact,
            needs=EXPERIMENTS,
            component=SWANLAB,
        )

    return (
        own(
            "swanlab.ready",
            "B1",
            "Every part of SwanLab answers through the gateway, and a gate that watches them sees each of them well",
            "look at the pods and logs of the part that is named; a container that runs is not yet one that answers",
        ),
        own(
            "swanlab.activated",
            "A5",
            "SwanLab is activated, its licence has not run out, and the key of the checks logs in",
            "activate it in the browser, make an API key in its settings, and put it into the Secret that is named: "
            "`kubectl -n <namespace> create secret generic <name> --from-literal=api-key=<key>`",
        ),
        own(
            "swanlab.closed",
            "A8",
            "Internal routes are closed, wrong keys refused, and no stranger writes to the public bucket or lists it",
            "look at the routes of the gateway and at the policy of the public bucket, which should be `download`",
            impact=Impact.SENTINEL,
        ),
        own(
            "swanlab.large_bodies",
            "B2",
            "A request as large as the contract promises reaches SwanLab through whatever stands before it",
            "raise the body limit of the Ingress or proxy that answers: what it refuses is dropped by the SDK for good",
            impact=Impact.SENTINEL,
        ),
        own(
            "swanlab.volumes",
            "B1",
            "The state of every store of SwanLab lies on its claim, in the very directory that the store writes to",
            "do not delete the pod: its state dies with it. Back it up from inside, correct the mount, restore",
        ),
    )


def _roundtrips() -> tuple[Check, ...]:
    lost = (
        "pods may all be healthy: follow the point from the log of the SDK to the gateway, house, the delivery buffer "
        "and ClickHouse, a file to the object store; then log again what is missing"
    )
    return (
        Check(
            id="swanlab.roundtrip",
            requirement="B2",
            claim="What the pinned SDK logs from outside of the cluster is read back: every value, step, file and line",
            remedy=lost,
            impact=Impact.SENTINEL,
            needs=EXPERIMENTS,
            component=SWANLAB,
        ),
        Check(
            id="swanlab.roundtrip_pod",
            requirement="B2",
            claim="What the pinned SDK logs from a pod is read back: every value, step, file and line",
            remedy=lost,
            impact=Impact.SENTINEL,
            needs=(*EXPERIMENTS, "experiments-pod"),
            component=SWANLAB,
        ),
    )
