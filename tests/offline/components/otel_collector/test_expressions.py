"""Expressions of a stack's own, judged by the real collector before they are parts of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from components.errors import DeployError
from components.otel_collector.args import Redaction
from components.otel_collector.config import render_gateway
from components.otel_collector.expressions import KEPT_NAMES, judge_expressions
from components.otel_collector.lint import MOST, lint, readable, refusal
from stacks.telemetry_systems import collector
from tests.offline.components.otel_collector.backend import Backend
from tests.offline.components.otel_collector.examples import ARGS, args
from tests.offline.components.otel_collector.otlp import logs, record, sent
from tests.offline.components.otel_collector.program import Collector, eventually
from tests.offline.stacks.examples import BUILT
from tests.offline.stacks.telemetry_examples import with_telemetry

if TYPE_CHECKING:
    from pathlib import Path

KEY = "plumbline:otel_collector.redaction"
WORDS = {
    "(unclosed": "missing closing ): `(unclosed`",
    "a)(b": "unexpected ): `a)(b`",
    "x(?=y)": "invalid or unsupported Perl syntax: `(?=`",
    r"(a)\1": r"invalid escape sequence: `\1`",
    "A{3000}": "invalid repeat count: `{3000}`",
    "[z-a]": "invalid character class range: `z-a`",
    r"\Qa": r"missing closing ): `(?:\Qa)`",
    'say "(error parsing regexp: ': 'missing closing ): `say "(error parsing regexp: `',
}
"""Expression → what is wrong with it, in the words of Go's package regexp/syntax."""
EMPTY = ("a*", ".*", "ACME-[0-9]+|", "[[:alpha:]]*", "(?i)x|(?i)y?", "^", r"\b")
WIDE = (".+", r"(?i)\w", "(?i)NAME", "[a-z.]+", "[[:lower:]]", r"name\z", "pod", "[0-9]+")
GOOD = (
    *("(?i)patient", r"\bACME-[0-9]{6}\b", "^name$", r"\.nam$", "^$", "[0-9]{2,}", "a{,3}", r"\pL{40}", "${env:HOME}"),
    *('"', "`", "x\ny", "(?i)x|(?i)y", "K8S"),
)


def said(redaction: Redaction) -> list[str]:
    """Lines of the refusal."""
    with pytest.raises(DeployError) as caught:
        judge_expressions(redaction, "local")
    return str(caught.value).splitlines()


@pytest.mark.parametrize("kind", ["keys", "values"])
@pytest.mark.parametrize(("expression", "words"), WORDS.items())
def test_what_is_no_expression_is_named_with_its_setting_and_the_reason(kind: str, expression: str, words: str) -> None:
    first, line, then = said(Redaction(**{kind: ("fine", expression)}))
    assert first == "the expressions of redaction cannot be used; nothing was changed:"
    assert line == (
        f"- {KEY}.{kind}[1] is `{expression}`: the collector says: {words}; fix: correct it, or take it out: "
        f"pulumi config rm --path '{KEY}.{kind}[1]' --stack local"
    )
    assert then.startswith("next: accepted are expressions of RE2, which knows no look-around and no back-references")


@pytest.mark.parametrize("kind", ["keys", "values"])
@pytest.mark.parametrize("expression", EMPTY)
def test_what_matches_the_empty_text_is_refused(kind: str, expression: str) -> None:
    assert "it matches the empty text" in said(Redaction(**{kind: (expression,)}))[1]


@pytest.mark.parametrize("kind", ["keys", "values"])
@pytest.mark.parametrize("expression", WIDE)
def test_what_would_hide_that_by_which_all_is_found_is_refused(kind: str, expression: str) -> None:
    assert "it matches the name " in said(Redaction(**{kind: (expression,)}))[1]


def test_what_can_be_used_is_let_through() -> None:
    judge_expressions(Redaction(keys=GOOD, values=GOOD), "local")
    lint(render_gateway(args(redaction=Redaction(keys=GOOD, values=GOOD))).files)


def test_all_faults_are_told_the_last_first_so_that_commands_in_their_order_take_out_the_right_ones() -> None:
    lines = said(Redaction(keys=("(", "fine", "a*"), values=("b[", "fine", "c(?!d)")))[1:-1]
    faulty = ("values[2]", "values[0]", "keys[2]", "keys[0]")
    assert [line.partition(" is ")[0] for line in lines] == [f"- {KEY}.{where}" for where in faulty]


def test_a_long_expression_is_told_in_short() -> None:
    line = said(Redaction(values=("(" + "long" * 1000,)))[1]
    assert f"{KEY}.values[0]" in line
    assert "missing closing )" in line
    assert len(line) < MOST


def test_without_expressions_of_its_own_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    judge_expressions(Redaction(), "local")
    with pytest.raises(DeployError, match="not on PATH"):
        judge_expressions(Redaction(values=("fine",)), "local")


def test_a_collector_that_refuses_something_else_is_not_taken_for_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "otelcol-contrib"
    program.write_text("#!/bin/sh\necho 'Error: exporters: unknown type' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(DeployError, match="Error: exporters: unknown type"):
        judge_expressions(Redaction(values=("fine",)), "local")


def test_a_stack_with_a_broken_expression_is_told_so_and_not_by_the_rendered_files() -> None:
    found = with_telemetry("staging", otel_collector={"mode": "managed", "redaction": {"values": ["(unclosed"]}})
    with pytest.raises(DeployError, match=r"^the expressions of redaction cannot be used; nothing was changed:") as why:
        collector(found, BUILT).lint()
    assert "--stack staging" in str(why.value)
    assert len(str(why.value)) < MOST


@pytest.mark.parametrize("redaction", [Redaction(keys=("(unclosed",)), Redaction(values=("(unclosed",))])
def test_of_any_other_refusal_is_shown_what_a_person_can_read(redaction: Redaction) -> None:
    files = render_gateway(args(redaction=redaction)).files
    assert len(refusal(files)) > 5 * MOST
    with pytest.raises(DeployError) as caught:
        lint(files)
    head, *lines = str(caught.value).splitlines()
    assert "refuses the rendered configuration" in head
    assert "missing closing )" in lines[0]
    assert len("\n".join(lines[:-1])) <= MOST
    assert lines[-1].endswith("more of its lines")
    statements = {
        one
        for processor in yaml.safe_load(next(iter(files.values())))["processors"].values()
        for name, groups in processor.items()
        if name.endswith("_statements")
        for group in groups
        for one in group["statements"]
    }
    assert not [one for one in statements if len(one) > MOST // 4 and one in str(caught.value)]


def test_a_line_without_quotes_loses_its_middle_and_keeps_its_reason() -> None:
    shown = readable(f"Error: {'x' * 5000} the reason\n\n")
    assert len(shown) <= MOST
    assert (shown[:8], shown[-10:]) == ("Error: x", "the reason")


def test_what_is_short_is_shown_as_it_is() -> None:
    assert readable("Error: a\n\n  'b' has invalid keys: c\n") == "Error: a\n  'b' has invalid keys: c"


@pytest.mark.parametrize(
    ("redaction", "body", "left"),
    [
        (Redaction(values=("a*",)), "****b****n****n****", {}),
        (Redaction(values=("pod",)), "banana", {"service.name": "shop", "team": "x"}),
        (Redaction(keys=("name",)), "banana", {"service.name": "****", "k8s.pod.name": "****", "team": "x"}),
    ],
)
def test_why_they_are_refused(tmp_path: Path, redaction: Redaction, body: str, left: dict[str, str]) -> None:
    """What the collector does with them, were they let through."""
    backend = Backend()
    files = render_gateway(backend.takes(args(redaction=redaction))).files
    resource = {"service.name": "shop", "k8s.pod.name": "a-1", "team": "x"}
    with backend.up(), Collector(tmp_path, files).running() as program:
        sent(program.http, logs([record("banana")], resource))
        eventually(lambda: len(backend.records()) == 1, backend.everything)
        (found,) = backend.records()
    assert found["body"] == body
    assert {name: value for name, value in found["resource"].items() if name in resource} == left


def test_the_names_that_are_kept_are_those_of_records() -> None:
    text = "\n".join(render_gateway(ARGS).files.values())
    assert [name for name in KEPT_NAMES if name not in text] == []
