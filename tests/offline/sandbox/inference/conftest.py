"""One service for all tests that play with it: starting five processes takes a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.inference import service as running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.sandbox.inference.service import Service

RESOURCE = (
    "service.name=inference-{role},service.namespace=inference,service.instance.id=team-a.{role}-0.inference,"
    "k8s.namespace.name=team-a,k8s.pod.name={role}-0,k8s.pod.uid=uid-{role},k8s.node.name=node-1,"
    "k8s.container.name=inference,team=search,run_id=run-7"
)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """All roles, with resource attributes as the downward API gives them."""
    with running.service(tmp_path_factory.mktemp("service"), OTEL_RESOURCE_ATTRIBUTES=RESOURCE) as found:
        yield found
