"""The world with GPUs and alerting: smoke is run on it as a whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smoke.main import main
from tests.offline.smoke import full_stack, objects

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.smoke.conftest import World
    from tests.offline.smoke.full_stack import Platform

Json = dict[str, Any]
CAPABILITIES = ["metrics", "prometheus-managed", "gpu", "alerting", "alert-sink", "push"]


class Full:
    """The world with GPUs and alerting."""

    def __init__(self, world: World, stack: Platform, components: Json) -> None:
        self.world, self.stack, self._components = world, stack, components

    def contract(self, **changes: object) -> Json:
        """The outputs contract."""
        own = objects.contract().model_dump(mode="json")
        jobs = [{"job": job, "min_targets": 1, "max_series": 1000} for job in full_stack.JOBS]
        own |= {
            "capabilities": CAPABILITIES,
            "components": own["components"] | self._components,
            "scrape": jobs,
            "rules": {"jobs": full_stack.JOBS, "alert_pipeline": True},
            "receivers": [asdict(receiver) for receiver in full_stack.RECEIVERS],
            "expected_checks": ["cluster.identity"],
        }
        own["components"]["prometheus"]["endpoints"]["http"]["url"] = self.world.prometheus_address
        return own | changes

    def run(self, *only: str, **changes: object) -> tuple[int, Json]:
        """Run these checks, or all; gives exit code and report."""
        path: Path = self.world.directory / "contract.json"
        path.write_text(json.dumps(self.contract(**changes)))
        code = main(self.world.arguments("--only", *only) if only else self.world.arguments())
        return code, self.world.report()

    def proofs(self) -> list[str]:
        """Names of the pods of smoke that are there."""
        return [
            p["metadata"]["name"] for p in self.world.api.pods() if p["metadata"]["name"].startswith("plumbline-gpu")
        ]
