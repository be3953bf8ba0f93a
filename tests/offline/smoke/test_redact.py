"""No secret leaves the suite, and ordinary words do."""

from __future__ import annotations

import pytest

from smoke.redact import MASK, bounded, redact

SECRETS = {
    "header": ("Authorization: Bearer abcdef.123456", "abcdef"),
    "header in JSON": ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
    "header with parameters": ("authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=feed", "feed"),
    "cookie": ("Set-Cookie: session=opaque; Path=/", "opaque"),
    "bearer in prose": ("sent bearer abcdefgh12345678 to it", "abcdefgh12345678"),
    "JSON web token": ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJhbGciOiJIUzI1NiJ9"),
    "assignment": ("DB_PASSWORD=hunter2 next", "hunter2"),
    "quoted assignment": ("password: 'hunter 2'", "hunter 2"),
    "JSON member": ('"api_key": "a\\"bc"', "bc"),
    "flag": ("run --client-secret s3cr3t --port 1", "s3cr3t"),
    "flag with equals": ("run --token=s3cr3t --port 1", "s3cr3t"),
    "address": ("postgres://user:hunter2@db:5432/x", "hunter2"),
    "path of a chat": ("post https://hooks.slack.com/services/T0/B0/hunter2 failed", "hunter2"),
    "path of a bot": ('Post "https://api.telegram.org/bot1:hunter2/sendMessage": EOF', "hunter2"),
    "random path": ("https://a.example/in/9e107d9d372bb6826bd81d3542a419d6/x", "9e107d9d"),
    "cloud key": ("key AKIAABCDEFGHIJKLMNOP used", "AKIAABCDEFGHIJKLMNOP"),
    "forge token": ("ghp_abcdefghijklmnopqrstuvwxyz", "ghp_abc"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    "private key cut short": ("-----BEGIN PRIVATE KEY-----\nMIIE", "MIIE"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secret_is_masked(kind: str) -> None:
    text, secret = SECRETS[kind]
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize("kind", SECRETS)
def test_redaction_is_stable(kind: str) -> None:
    once = redact(SECRETS[kind][0])
    assert redact(once) == once


PLAIN = [
    "pod prometheus-0: seen Pending; expected Running and Ready",
    "sha256:abababababababababababababababababababababababababababababababab",
    "http://10.88.0.7:9090/metrics is up",
    "run --port 9090 --retention 15d",
    "http://alert-sink.plumbline-sandbox.svc:8080/P0 has 3 notifications",
    "Secret plumbline-root exists",
]


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text) == text


def test_text_around_a_secret_stays() -> None:
    assert redact("a password=x, b") == f"a password={MASK}, b"


def test_long_text_keeps_both_ends_and_counts_the_rest() -> None:
    text = bounded("a" * 500 + "b" * 500, 200)
    assert len(text) <= 200
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert "800 characters left out" in text


def test_redaction_comes_before_the_cut() -> None:
    assert "hunter" not in bounded("x" * 95 + " password=hunter2hunter2hunter2" + "y" * 200, 120)
