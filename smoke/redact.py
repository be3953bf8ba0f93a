"""Redaction: what leaves the suite holds no secret and is bounded."""

from __future__ import annotations

import re

from signals.secret_addresses import masked
from smoke import limits

MASK = "[redacted]"

_NAME = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)[\w.-]*"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [^-]*(?:KEY|CERTIFICATE)[^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL), MASK),
    # The whole rest of the header: schemes differ, and their parameters are secret too.
    (
        re.compile(r"(?i)\b((?:proxy-)?authorization|cookie|set-cookie|x-api-key)(\"?\s*[:=]\s*)[^\r\n]+"),
        rf"\1\2{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"), MASK),
    (re.compile(r"([a-zA-Z][\w+.-]*://)[^\s/@:]*:[^\s/@]+@"), rf"\1{MASK}@"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MASK),
    (
        re.compile(r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
        MASK,
    ),
    (re.compile(rf"(?i)(\"{_NAME}\"\s*:\s*)\"(?:[^\"\\]|\\.)*\""), rf'\1"{MASK}"'),
    (re.compile(rf"(?i)(?<![\w\"])(--?{_NAME}[ =])[^\s,;&]+"), rf"\1{MASK}"),
    (
        re.compile(rf"(?i)\b({_NAME}\s*[=:]\s*)(?!\[redacted\])(?:\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)"),
        rf"\1{MASK}",
    ),
)


_KNOWN: set[str] = set()
SHORTEST = 6


def remember(secret: str) -> None:
    """Mask this very value from now on, wherever it stands: for what was read to be used, as a key of a Secret.

    One of fewer than 6 characters is not masked: it would be found in ordinary words.
    """
    if len(secret) >= SHORTEST:
        _KNOWN.add(secret)


def redact(text: str) -> str:
    """The text with passwords, tokens, keys and authorization headers masked. Applying it twice changes nothing."""
    # The longest first: one that holds another must not leave its rest behind.
    for secret in sorted(_KNOWN, key=len, reverse=True):
        text = text.replace(secret, MASK)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return masked(text, MASK)


def bounded(text: str, limit: int = limits.EVIDENCE_CHARS) -> str:
    """Redacted text of at most `limit` characters; what was cut out of the middle is counted.

    Redaction comes first, so that a cut cannot halve a secret into something that no pattern knows.
    """
    text = redact(text)
    if len(text) <= limit:
        return text
    mark = f"\n… {len(text) - limit} characters left out …\n"
    keep = max(limit - len(mark), 0)
    return text[: keep - keep // 2] + mark + text[len(text) - keep // 2 :]
