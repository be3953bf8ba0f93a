"""How the agent reads what containers write: lines of the runtime, and JSON in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.otel_collector.names import AGENT, GATEWAY, POD_LOGS
from components.otel_collector.parts import MIB

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

LEVEL_KEYS: Final = ("level", "severity", "levelname", "lvl")
"""Keys of a JSON line under which its level may stand: the first that is text says it."""
OF_RUNTIME: Final = ("log.iostream", "logtag", "log.file.path")
"""Attributes that a line has without saying so."""
LARGEST_LINE: Final = MIB
"""Bytes of one record. A longer line becomes several."""
LEVEL_NAMES: Final[dict[str, list[str]]] = {
    "fatal": ["critical", "crit", "emergency", "emerg", "alert", "panic", "dpanic"],
    "error": ["err", "severe"],
    "warn": ["warning", "wrn"],
    "info": ["information", "informational", "notice", "inf"],
    "debug": ["dbg", "verbose"],
    "trace": ["trc"],
}
"""Names of levels that loggers have beside OpenTelemetry's."""


def container_logs(args: OtelCollectorArgs, offsets: str) -> Manifest:
    """The receiver. offsets: the storage in which it writes how far it has read.

    What comes after it may refuse or be full: it waits and tries again, for ever. The collectors' own files are left
    out, since a line about a line that could not be sent would never end.
    """
    own = ((args.node_namespace, AGENT), (args.namespace, GATEWAY))
    return {
        "include": [f"{POD_LOGS}/*/*/*.log"],
        "exclude": [f"{POD_LOGS}/{namespace}_{name}-*/*/*.log" for namespace, name in own],
        "start_at": "beginning",
        "include_file_path": True,
        "include_file_name": False,
        "storage": offsets,
        "max_log_size": LARGEST_LINE,
        # The runtime cuts long lines anywhere, and what it cut is put together again.
        "preserve_leading_whitespaces": True,
        "preserve_trailing_whitespaces": True,
        "retry_on_failure": {
            "enabled": True,
            "initial_interval": "1s",
            "max_interval": "15s",
            "max_elapsed_time": "0s",
        },
        "operators": _operators(),
    }


def _operators() -> list[Manifest]:
    """What cannot be read as expected goes on as it is: no operator drops a line."""
    return [
        {"type": "container", "id": "container", "on_error": "send", "max_log_size": LARGEST_LINE},
        {
            "type": "json_parser",
            "id": "json",
            "if": r'type(body) == "string" and body matches "^\\s*\\{\\s*\""',
            "parse_from": "body",
            "parse_to": "body",
            "parse_ints": True,
            **_QUIET,
        },
        *(_level(key, LEVEL_KEYS[:place]) for place, key in enumerate(LEVEL_KEYS)),
        *_trace_context(),
    ]


_QUIET: Final = {"on_error": "send_quiet"}


def _operator(kind: str, condition: str, **settings: Any) -> Manifest:  # noqa: ANN401  # YAML of the operator
    return {"type": kind, "if": condition, **settings, **_QUIET}


def _text(where: str, key: str) -> str:
    return f'type({where}.{key}) == "string"'


def _member(key: str) -> str:
    """Condition: the line was JSON and has text under a key."""
    return f'type(body) == "map" and {_text("body", key)}'


def _level(key: str, before: tuple[str, ...]) -> Manifest:
    """Reads a level where no key before has text. The key stays, and says what was sent."""
    condition = " and ".join((_member(key), *(f"not ({_text('body', other)})" for other in before)))
    return _operator("severity_parser", condition, parse_from=f"body.{key}", mapping=LEVEL_NAMES, overwrite_text=True)


def _trace_context() -> list[Manifest]:
    """Ids of 32 and 16 hexadecimal digits become the record's; whatever else stands there stays.

    A span is one of a trace: its id without the trace's is no context.
    """
    trace = f'{_member("trace_id")} and body.trace_id matches "^[0-9a-fA-F]{{32}}$"'
    span = f'{_member("span_id")} and body.span_id matches "^[0-9a-fA-F]{{16}}$"'
    both = f"{trace} and {span}"
    ids = {"trace_id": {"parse_from": "body.trace_id"}, "span_id": {"parse_from": "body.span_id"}}
    # A parser that is not told where the span's id is looks there all the same, and fails at what is none.
    nowhere = {"parse_from": "attributes.plumbline_no_span"}
    return [
        _operator("trace_parser", both, **ids),
        _operator("trace_parser", f"{trace} and not ({span})", **{**ids, "span_id": nowhere}),
        _operator("remove", both, field="body.span_id"),
        _operator("remove", trace, field="body.trace_id"),
    ]
