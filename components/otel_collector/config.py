"""The two configurations of the collector as files, each with the revision that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components import fixed_config
from components.fixed_config import OWN_REVISION
from components.otel_collector import agent_config, debug, gateway_config
from components.otel_collector.names import CONFIG_FILE, DEBUG_FILE
from components.otel_collector.parts import text_of

if TYPE_CHECKING:
    from components.otel_collector.args import OtelCollectorArgs
    from components.rendered import Rendered


def render_agent(args: OtelCollectorArgs) -> Rendered:
    """What the agents run, without windows of debugging."""
    return fixed_config.render(CONFIG_FILE, text_of(agent_config.configuration(args, OWN_REVISION)))


def render_gateway(args: OtelCollectorArgs) -> Rendered:
    """What the gateway runs."""
    return fixed_config.render(CONFIG_FILE, text_of(gateway_config.configuration(args, OWN_REVISION)))


def no_windows(args: OtelCollectorArgs) -> Rendered:
    """The agents' second file while nobody debugs: it must be there, and says what the first says."""
    return fixed_config.render(DEBUG_FILE, debug.fragment(args.lowest_level))
