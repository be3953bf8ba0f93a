"""Settings with telemetry, laid over the stacks that have none in their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.offline.stacks.examples import existing, settings

if TYPE_CHECKING:
    from stacks.settings import Settings

MANAGED: dict[str, Any] = {"mode": "managed"}
ON: dict[str, dict[str, Any]] = {"otel_collector": MANAGED, "logs": MANAGED, "traces": MANAGED}
"""Everything by this stack, as the defaults have it."""
OFF: dict[str, dict[str, Any]] = {section: {"mode": "off"} for section in ON}
HEADERS: dict[str, Any] = {"headers_secret": "otlp-login", "headers": ["Authorization", "X-Scope-OrgID"]}
LOGS_ELSEWHERE: dict[str, Any] = {
    "mode": "external",
    "external": {"endpoint": "https://otlp.example.com/v1/logs", **HEADERS},
}
TRACES_ELSEWHERE: dict[str, Any] = {
    "mode": "external",
    "external": {"endpoint": "tempo.example.com:4317", "protocol": "grpc", "tls": True},
}


def laid_over(sections: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """ON, with keys of sections in place of its own."""
    return {name: {**ON.get(name, {}), **sections.get(name, {})} for name in {**ON, **sections}}


def with_telemetry(stack: str = "staging", **sections: dict[str, Any]) -> Settings:
    """Parsed settings of a completed stack with collector and stores. sections: keys laid over a section."""
    return settings(stack, None, **laid_over(sections))


def beside_existing(**sections: dict[str, Any]) -> Settings:
    """The same of stack staging with a Prometheus that a team already runs."""
    return existing("staging", None, **laid_over(sections))
