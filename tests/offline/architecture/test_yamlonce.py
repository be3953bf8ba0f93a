"""What is kept of YAML for the tests' sake is the library's own answer, whatever was asked before."""

from __future__ import annotations

import io
from typing import Any

import pytest
import yaml
from yaml.emitter import Emitter, ScalarAnalysis

from tests.offline import yamlonce

TEXTS = ("", "plain", "ü", "- dash", " led", "two\nlines", "a: b", "x" * 300 + " #", "\x07", "12", "---")


def emitter(*, allow_unicode: bool | None) -> Emitter:
    """One that writes nowhere."""
    return Emitter(io.StringIO(), allow_unicode=allow_unicode)


@pytest.mark.parametrize("first", [True, False, None])
def test_text_is_looked_at_once_for_each_setting(*, first: bool | None) -> None:
    asked: list[tuple[str, Any]] = []
    own: Any = Emitter.analyze_scalar
    library = own.__wrapped__

    def noted(emitter: Emitter, scalar: str) -> ScalarAnalysis:
        asked.append((scalar, emitter.allow_unicode))
        found: ScalarAnalysis = library(emitter, scalar)
        return found

    once = yamlonce.analysed_once(noted)
    for allow_unicode in (first, not first, first):
        for text in TEXTS:
            one = emitter(allow_unicode=allow_unicode)
            assert vars(once(one, text)) == vars(library(one, text)), (text, allow_unicode)
    assert asked == [(text, allow) for allow in (first, not first) for text in TEXTS]


def test_documents_are_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    own: Any = Emitter.analyze_scalar
    documents = [{text: [text, {"in": text}]} for text in TEXTS]
    wanted = []
    with monkeypatch.context() as alone:
        alone.setattr(Emitter, "analyze_scalar", own.__wrapped__)
        for how in ({}, {"allow_unicode": True}, {"default_flow_style": True}, {"default_style": '"'}):
            wanted += [(one, how, _text(one, how)) for one in documents]
    for one, how, text in (*wanted, *wanted):
        assert _text(one, how) == text, (one, how)


def _text(document: object, how: dict[str, Any]) -> str:
    """Written past the memory of whole documents."""
    stream = io.StringIO()
    yaml.dump(document, stream, **how)
    return stream.getvalue()
