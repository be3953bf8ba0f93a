"""The two configurations of the collector as files, each with the revision that names it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.otel_collector import agent_config, debug, gateway_config
from components.otel_collector.names import CONFIG_FILE, DEBUG_FILE
from components.otel_collector.parts import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

_REVISION_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """files: file name → text, as they lie in one directory. revision: 12 hex digits that change with any of them."""

    files: dict[str, str]
    revision: str


def render_agent(args: OtelCollectorArgs) -> Rendered:
    """What the agents run, without windows of debugging."""
    return _rendered(args, agent_config.configuration)


def render_gateway(args: OtelCollectorArgs) -> Rendered:
    """What the gateway runs."""
    return _rendered(args, gateway_config.configuration)


def no_windows(args: OtelCollectorArgs) -> Rendered:
    """The agents' second file while nobody debugs: it must be there, and says what the first says."""
    text = debug.fragment(args.lowest_level)
    return Rendered(files={DEBUG_FILE: text}, revision=_digest(text))


def _rendered(args: OtelCollectorArgs, configuration: Callable[[OtelCollectorArgs, str], Manifest]) -> Rendered:
    """The revision is the hash of the file without it; the file then carries it into the collector's own metrics."""
    revision = _digest(text_of(configuration(args, "")))
    return Rendered(files={CONFIG_FILE: text_of(configuration(args, revision))}, revision=revision)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_REVISION_DIGITS]
