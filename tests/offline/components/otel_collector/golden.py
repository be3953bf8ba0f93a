"""Golden configurations of agent and gateway, for each rendering that abilities give.

After a wanted change: `python -m tests.offline.components.otel_collector.golden --write`, then read the diff.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from components.otel_collector.abilities import BUILT_HERE, K8S_ATTRIBUTES
from components.otel_collector.args import Backend
from components.otel_collector.config import render_agent, render_gateway
from components.otel_collector.names import CONFIG_FILE
from tests.offline.components.otel_collector.examples import ARGS

GOLDEN: Final = Path(__file__).with_name("golden")


def rendered() -> dict[str, str]:
    """File name → text."""
    many = replace(ARGS, gateway=replace(ARGS.gateway, replicas=2))
    upstream = replace(many, abilities=BUILT_HERE | {K8S_ATTRIBUTES})
    elsewhere = replace(
        ARGS,
        logs=Backend(
            protocol="http",
            endpoint="https://logs.example/v1/logs",
            tls=True,
            headers_secret="backend",  # noqa: S106  # the name of a Secret
            headers_keys=("Authorization", "X-Scope"),
        ),
        traces=None,
    )
    return {
        "agent.yaml": render_agent(ARGS).files[CONFIG_FILE],
        "agent-replicas.yaml": render_agent(many).files[CONFIG_FILE],
        "agent-upstream.yaml": render_agent(upstream).files[CONFIG_FILE],
        "gateway.yaml": render_gateway(ARGS).files[CONFIG_FILE],
        "gateway-elsewhere.yaml": render_gateway(elsewhere).files[CONFIG_FILE],
    }


def main(arguments: list[str]) -> int:
    """`--write` regenerates all files; anything else explains how."""
    if arguments != ["--write"]:
        print(f"usage: python -m {__spec__.name if __spec__ else 'golden'} --write   (writes {GOLDEN}/*.yaml)")
        return 2
    GOLDEN.mkdir(exist_ok=True)
    for name, text in rendered().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
