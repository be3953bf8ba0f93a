"""Judgement over an object store."""

from __future__ import annotations

import pytest

from smoke.judge import objects
from smoke.judge.objects import Attempt


def test_same_bytes() -> None:
    assert objects.same_bytes("o", b"abc", b"abc") == []
    problem = objects.same_bytes("o", b"abc", b"abd")[0]
    # sha256 of "abd" and "abc", by sha256sum.
    assert problem.seen == "3 bytes, sha256 a52d159f262b"
    assert problem.expected == "3 bytes, sha256 ba7816bf8f01"
    assert "0 bytes" in objects.same_bytes("o", b"abc", b"")[0].seen


@pytest.mark.parametrize("status", [401, 403])
def test_refusal(status: int) -> None:
    assert objects.refused(Attempt("a stranger", "PUT b/o", status)) == []


@pytest.mark.parametrize(("status", "seen"), [(200, "allowed"), (404, "HTTP 404"), (302, "HTTP 302")])
def test_anything_else_is_no_refusal(status: int, seen: str) -> None:
    problem = objects.refused(Attempt("a stranger", "PUT b/o", status))[0]
    assert str(problem) == f"PUT b/o by a stranger: seen {seen}; expected refused (401 or 403)"


def test_readable_needs_the_very_bytes() -> None:
    assert objects.readable(Attempt("a stranger", "GET b/o", 200, b"x"), b"x") == []
    assert "sha256" in objects.readable(Attempt("a stranger", "GET b/o", 200, b"y"), b"x")[0].seen
    assert "0 bytes" in objects.readable(Attempt("a stranger", "GET b/o", 200), b"x")[0].seen
    assert objects.readable(Attempt("a stranger", "GET b/o", 403), b"x")[0].seen == "HTTP 403"


def test_gone_is_not_found_and_nothing_else() -> None:
    assert objects.gone(Attempt("its owner", "GET b/o", 404)) == []
    assert objects.gone(Attempt("its owner", "GET b/o", 200))[0].seen == "HTTP 200"
    assert objects.gone(Attempt("its owner", "GET b/o", 403))[0].seen == "HTTP 403"


def test_what_killed_runs_left_is_known_by_its_age_and_nobody_elses_object_is() -> None:
    old, new = objects.sentinel(1000.0, "a"), objects.sentinel(5000.0, "b")
    assert old == "plumbline-sentinel/1000-a"
    strange = ["plumbline-sentinel/x", "media/1000-a", "plumbline-sentinel/1000", "plumbline-sentinel/-a"]
    assert objects.stale([old, new, *strange], 6000.0, 3600.0) == [old]
    assert objects.stale([old], 4600.0, 3600.0) == []
