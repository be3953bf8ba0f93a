"""Relations between settings of telemetry: each value is right by itself, together they cannot work.

What only the components know of their programs (queues against volumes, waits against memory) they judge themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacks.fields import duration_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.settings import Settings
    from stacks.telemetry import Logs, Traces

_STORES = ("logs", "traces")


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change."""
    return [*_stores(settings), *_collector(settings), *_whole_seconds(settings)]


def _stores(settings: Settings) -> Iterator[str]:
    sections: dict[str, Logs | Traces] = {"logs": settings.logs, "traces": settings.traces}
    for name, section in sections.items():
        if (section.mode == "external") != (section.external is not None):
            yield (
                f"plumbline:{name}.mode is `{section.mode}` and plumbline:{name}.external is "
                f"{'set' if section.external else 'missing'}; accepted: both or neither; fix: give the address that "
                "takes OTLP (endpoint, protocol, tls), or another mode"
            )
        if section.mode != "off" and settings.otel_collector.mode == "off":
            yield (
                f"plumbline:{name}.mode is `{section.mode}`, but plumbline:otel_collector.mode is `off`, so nothing "
                "would arrive there; accepted: both or neither; fix: "
                "pulumi config set --path 'plumbline:otel_collector.mode' managed"
            )


def _collector(settings: Settings) -> Iterator[str]:
    if settings.otel_collector.mode == "managed" and all(getattr(settings, name).mode == "off" for name in _STORES):
        yield (
            "plumbline:otel_collector.mode is `managed`, but plumbline:logs.mode and plumbline:traces.mode are `off`: "
            "what it takes would go nowhere; accepted: at least one of them; fix: "
            "pulumi config set --path 'plumbline:logs.mode' managed"
        )


def _whole_seconds(settings: Settings) -> Iterator[str]:
    sampling = settings.otel_collector.sampling
    waits = {"decision_wait": "60s", "decision_wait_after_root": "10s"}
    for name, usual in waits.items():
        given = getattr(sampling, name)
        wait = duration_seconds(given)
        if wait != int(wait) or wait < 1:
            yield (
                f"plumbline:otel_collector.sampling.{name} {given} is not in whole seconds; accepted: 1s or more; "
                f"fix: pulumi config set --path 'plumbline:otel_collector.sampling.{name}' {usual}"
            )
