"""Flags of a role."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sandbox.workloads.inference import ROLES
from sandbox.workloads.inference.asking import LOGS

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEEDS: Final = {"gateway": ("router", "retrieval"), "router": ("prefill", "decode")}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a role is started with. addresses: role → base addresses."""

    role: str
    host: str
    port: int
    model: str
    logs: str
    slots: int
    turns: int
    advertise: str
    addresses: dict[str, tuple[str, ...]]


def parse(arguments: Sequence[str]) -> Options:
    """Exits with 2 and the reason when a flag is wrong or missing."""
    parser = _parser()
    given = parser.parse_args(arguments)
    addresses = {name: tuple(getattr(given, name) or ()) for name in ROLES[1:]}
    for name in _NEEDS.get(given.role, ()):
        if not addresses[name]:
            parser.error(f"role {given.role} needs --{name} http://host:port")
    return Options(
        role=given.role,
        host=given.host,
        port=given.port,
        model=given.model,
        logs=given.logs,
        slots=given.max_num_seqs,
        turns=given.concurrency,
        advertise=given.advertise,
        addresses=addresses,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="inference", allow_abbrev=False, description="plays one role of a service")
    parser.add_argument("--role", choices=ROLES, required=True)
    parser.add_argument("--host", default="", help="address to listen on; without it, every one")
    parser.add_argument("--port", type=_port, default=8000, help="port to listen on; 0: any free one")
    parser.add_argument("--model", default="demo-llm", help="model_name of vLLM's metrics")
    parser.add_argument("--logs", choices=LOGS, default="stdout", help="where log lines go, unless a request says")
    parser.add_argument("--max-num-seqs", type=_positive, default=64, help="requests in the engine at once")
    parser.add_argument(
        "--concurrency", type=_positive, default=64, help="requests that the router lets through at once"
    )
    parser.add_argument(
        "--advertise",
        default=os.environ.get("POD_IP", ""),
        help="address at which decode reaches this prefill server; default $POD_IP, else this machine",
    )
    for name in ROLES[1:]:
        parser.add_argument(
            f"--{name}", type=_address, action="append", help=f"base address of {name}; may be repeated"
        )
    return parser


def _port(text: str) -> int:
    largest = 65535
    if not (text.isascii() and text.isdigit() and int(text) <= largest):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; accepted is 0 (any free one) to {largest}")
    return int(text)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no count; accepted is 1 and more")
    return int(text)


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme != "http" or not parts.hostname or parts.path not in ("", "/"):
        raise argparse.ArgumentTypeError(f"{text!r} is no base address; accepted is http://host:port")
    return text.rstrip("/")
