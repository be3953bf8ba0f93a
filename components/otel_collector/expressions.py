"""Judges the expressions that a stack adds to redaction, each by itself, before they are parts of long statements."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.otel_collector.lint import lint, refusal, shortened
from components.otel_collector.parts import literal, receiver, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.otel_collector.args import Redaction

KEPT_NAMES: Final = ("service.name", "k8s.cluster.name", "k8s.namespace.name", "k8s.pod.name")
"""Attributes by which traces and logs are found again. Short, since an expression may take long over a long one."""
_SETTING: Final = "plumbline:otel_collector.redaction"
_FILE: Final = "expressions.yaml"
_REFUSED: Final = re.compile(r"^(?:Error: )?processors::transform/(keys|values)-([0-9]+): (.*)$", re.MULTILINE)
_INVALID: Final = "error parsing regexp: "
_STATEMENT: Final = re.compile(r'"(?:\\.|[^"\\])*"')
_SHOWN: Final = 100
_REASON: Final = 200
_ONLY_PYTHON: Final = "{,"
"""For RE2 it is text, for Python the begin of a repetition."""
_ONLY_RE2: Final = re.compile(r"\\(?s:.)|\[:[a-z]+:\]|(?!^)\(\?[ims]+\)")
_AS_PYTHON: Final = {
    r"\z": r"\Z",
    "[:alpha:]": "a-zA-Z",
    "[:alnum:]": "a-zA-Z0-9",
    "[:lower:]": "a-z",
    "[:word:]": r"\w",
    "[:digit:]": r"\d",
    "[:space:]": r"\s",
}
_DOES: Final = {
    "keys": "every attribute would be masked",
    "values": "the mask would stand between any two letters, and no attribute would be left",
}


def judge_expressions(redaction: Redaction, stack: str) -> None:
    """Raise DeployError that names each expression that cannot be used. stack: whose settings have them.

    Also if the collector is missing or does not finish.
    """
    expressions = {
        f"{kind}[{number}]": expression
        for kind, those in (("keys", redaction.keys), ("values", redaction.values))
        for number, expression in enumerate(those)
    }
    refused = _refused(expressions) if expressions else {}
    # The last first: those behind one that is taken out get other numbers.
    reasons = {where: refused.get(where) or _too_wide(where, one) for where, one in reversed(expressions.items())}
    found = [_complaint(where, expressions[where], reason, stack) for where, reason in reasons.items() if reason]
    if found:
        raise DeployError(
            "the expressions of redaction cannot be used; nothing was changed:\n"
            + "\n".join(f"- {line}" for line in found)
            + "\nnext: accepted are expressions of RE2, which knows no look-around and no back-references; see "
            'docs/telemetry.md, "Expressions of your own"'
        )


def _complaint(where: str, expression: str, reason: str, stack: str) -> str:
    setting = f"{_SETTING}.{where}"
    return (
        f"{setting} is `{_cut(expression)}`: {reason}; fix: correct it, or take it out: "
        f"pulumi config rm --path '{setting}' --stack {stack}"
    )


def _refused(expressions: Mapping[str, str]) -> dict[str, str]:
    """What the collector has against which. expressions: `kind[number]` → expression."""
    files = {_FILE: text_of(_configuration(expressions))}
    said = refusal(files)
    found = {f"{kind}[{number}]": f"the collector says: {_reason(why)}" for kind, number, why in _REFUSED.findall(said)}
    if said and not found:
        lint(files)
    return found


def _configuration(expressions: Mapping[str, str]) -> dict[str, object]:
    """The smallest that has them, with a processor for each, since the collector names those that it refuses."""
    processors = {f"transform/{where.replace('[', '-').removesuffix(']')}": one for where, one in expressions.items()}
    return {
        "receivers": {"otlp": receiver()},
        "processors": {name: _processor(one) for name, one in processors.items()},
        "exporters": {"debug": {}},
        "service": {
            "pipelines": {"logs": {"receivers": ["otlp"], "processors": [*processors], "exporters": ["debug"]}}
        },
    }


def _processor(expression: str) -> dict[str, object]:
    """By itself, and as one of several: `a)(b` is right only there, an open `\\Q` only here."""
    statements = [f"keep_matching_keys(log.attributes, {literal(one)})" for one in (expression, f"(?:{expression})")]
    return {"error_mode": "propagate", "log_statements": [{"context": "log", "statements": statements}]}


def _reason(why: str) -> str:
    """In one line. why: a refusal, which ends in the reason."""
    # The statement and the expression in it are repeated first, and could hold the very words.
    _, said, reason = _STATEMENT.sub("", why, count=2).partition(_INVALID)
    return shortened(reason if said else why, _REASON)


def _too_wide(where: str, expression: str) -> str:
    """What an expression would do that matches everything, or what everything is found by; empty for nothing."""
    hidden = {name: text for name in KEPT_NAMES if (text := _match(expression, name)) is not None}
    if hidden and "" in (*hidden.values(), _match(expression, "")):
        return f"it matches the empty text, which is everywhere: {_DOES[where.partition('[')[0]]}"
    if hidden:
        return f"it matches the name {next(iter(hidden))}, by which traces and logs are found, and would hide it"
    return ""


def _match(expression: str, text: str) -> str | None:
    """What it matches in a text first. None for nothing, and where RE2 reads it and Python does not, or otherwise."""
    if _ONLY_PYTHON in expression:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = re.compile(_ONLY_RE2.sub(_as_python, expression), re.ASCII).search(text)
        except (re.error, RecursionError, OverflowError, Warning):
            return None
    return found.group() if found else None


def _as_python(found: re.Match[str]) -> str:
    """Flags in the middle are left out: without them it matches less, and nothing is refused that need not be."""
    text = found.group()
    return _AS_PYTHON.get(text, "" if text.startswith("(?") else text)


def _cut(expression: str) -> str:
    text = expression.replace("\n", "\\n")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
