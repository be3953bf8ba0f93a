"""What is hidden wherever text stands: regular expressions (RE2) that search anywhere in it.

Text is searched as a whole: a secret is found in the middle of a sentence, of JSON that did not parse, and of JSON
within JSON. RE2 cannot say what must not stand before or after something, so that some expressions begin with a group
that stays, and what is ordinary is spared (SPARED) before anything is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components.otel_collector import signs
from components.otel_collector.text_numbers import CARD, CARD_IN_GROUPS, PHONE, PHONE_HERE, SOCIAL_SECURITY
from components.otel_collector.words import KEYS, LONG_TOKENS, PASSES, SHORT_TOKENS, SHORTEST_TOKEN


@dataclass(frozen=True)
class Hidden:
    """pattern: regular expression. signs: of signs.FAMILIES, or its own: one is in whatever the pattern matches.

    keeps: the first group of the pattern is what stands before, and stays. narrow: finds as much where none of
    own_signs.WIDE is, for a fraction of the cost.
    """

    pattern: str
    signs: signs.Family
    keeps: bool = False
    narrow: str = ""


# In one order, so that an engine tries what begins alike once.
_LONG_TOKENS, _KEYS, _PASSES = ("|".join(sorted(words)) for words in (LONG_TOKENS, KEYS, PASSES))
_SHORT_TOKENS: Final = "|".join(sorted((*SHORT_TOKENS, SHORTEST_TOKEN)))
# A quote as it stands in text, and in JSON that is a string of JSON.
_QUOTE: Final = r"""\\*["']"""
_QUOTED: Final = r"""(?:\"{3}(?s:.*?)(?:\"{3}|\z)|\\*"(?:\\.|[^"\\])*(?:"|\z)|\\*'(?:\\.|[^'\\])*(?:'|\z))"""
_WRAPPED: Final = rf"(?:[bru]|Some\(|[A-Za-z]{{0,12}}Str\()?{_QUOTED}"


def _nested(depth: int) -> str:
    """What stands in brackets, which may hold others, and strings with any bracket."""
    inner = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'{}\[\]\\]"""
    return inner + (rf"|[\[{{]{_nested(depth - 1)}*[\]}}])" if depth else ")")


_BRACKETS: Final = rf"[\[{{]{_nested(3)}*[\]}}]"
_HELD: Final = rf"(?:{_BRACKETS}|\[[^\]]*\]?|\{{[^}}]*\}}?)"
_IS: Final = rf"(?:{_QUOTE})?\s*(?:=>|:=|[:=])\s*"
# Behind a colon and a blank stand words of a sentence as well.
_STRICT: Final = rf"(?:(?:{_QUOTE})?\s*(?:=>|:=|=)\s*|{_QUOTE}\s*:\s*|:)"
_LOOSE: Final = r"\s*:\s+"
_VALUE: Final = rf"""(?:{_HELD}|{_WRAPPED}|[^\s,;&"'}}\])]+)"""
_STRONG: Final = rf"""(?:{_HELD}|{_WRAPPED}|[^\s,;&"'}}\])]*[0-9!@#$%^*~+=][^\s,;&"'}}\])]*)"""
_PLAIN_WORDS: Final = r"passw(?:or)?d|passphrase|secret|credential|authorization|cookie"
# What is left of those below where own_signs.WIDE has no sign.
_NARROW: Final = rf"(?:{_PLAIN_WORDS})[\w.\-]*"
_WORDS: Final = r"passw(?:or)?d|passphrase|secret|credential|api[_\-. ]?key|authorization|cookie"
_SENSITIVE: Final = (
    rf"(?:{_WORDS}|(?:{_KEYS})[_\-. ]?key)[\w.\-]*|(?:{_LONG_TOKENS})[_\-]?token|\b(?:{_SHORT_TOKENS})[_\-]token|"
    rf"(?:{_PASSES})[_\-]pass|\b(?-i:[Pp]wd)"
)
_SCHEME: Final = r"(?:bearer|basic|digest|token|api-?key|negotiate|ntlm)\s+"
_ASSIGNED: Final = rf"{_STRICT}(?:{_SCHEME})?{_VALUE}"
_SAID: Final = rf"{_LOOSE}(?:{_SCHEME}{_VALUE}|{_STRONG})"
_T: Final = r"[A-Za-z0-9._~+/=\-]"
_TOKEN: Final = rf"[A-Za-z0-9._\-]*[A-Za-z]{_T}{{6,}}"
# With a digit as well.
_STRONG_TOKEN: Final = (
    rf"(?:[A-Za-z0-9._\-]*[0-9][A-Za-z0-9._\-]*[A-Za-z]{_T}{{6,}}|"
    rf"[A-Za-z]{_T}*[0-9]{_T}{{5,}}|[A-Za-z]{_T}{{5,}}[0-9]{_T}*)"
)
_WRITTEN: Final = (
    r"(?:prompts?|completions?|contents?|inputs?|outputs?)(?:_?text)?|generated_?text|messages|instructions|tool_calls|"
    r"arguments"
)
_VARIABLE: Final = r"""(?:export\s+|declare\s+-x\s+)?[A-Z][A-Z0-9_]+=(?:"[^"]*"|[^\s\x00|]*)"""
_KNOWN: Final = (
    r"""(?:export\s+|declare\s+-x\s+)?(?:PATH|HOME|PWD|LANG|USER|SHELL|HOSTNAME|PYTHONPATH|LD_LIBRARY_PATH|"""
    r"""KUBERNETES_[A-Z_]+)=(?:"[^"]*"|[^\s\x00|]*)"""
)
_GAP: Final = r"[\s,;\x00|]+"
_VARIABLES: Final = "|".join(
    rf"(?:{_VARIABLE}{_GAP}){{{before},}}{_KNOWN}(?:{_GAP}{_VARIABLE}){{{3 - before},}}" for before in (3, 2, 1, 0)
)
_NOTHING: Final = r"(?:none|null|nil|true|false)(?:$|[\s,;)}\]])"
_IS_NOTHING: Final = rf"((?:{_QUOTE})?\s*[:=]\s*{_NOTHING})"
_USER: Final = r"://[^/\s:@\"']*:(?:[^/\s@\"']+|[^/\s@\"']*[^0-9/\s@\"'][^/\s@\"']*/[^\s@\"']*)@(?:[^/\s@\"']+@)?"
_SIGNED: Final = r"x-(?:amz|goog|oss)-(?:signature|credential|security-token)|q-signature"

SPARED: Final[dict[str, Hidden]] = {
    "no credential": Hidden(
        rf"(?i)({_SENSITIVE}|token){_IS_NOTHING}",
        signs.SECRETS,
        narrow=rf"(?i)({_NARROW}){_IS_NOTHING}",
    ),
    "no prompt": Hidden(rf"(?i)(prompt|completion)(\s*[:=]\s*{_NOTHING})", signs.CONTENTS),
    "units and libraries": Hidden(
        r"([A-Za-z0-9._%+\-])(@[A-Za-z0-9.\-]+\.(?:service|socket|timer|mount|slice|scope|target|so(?:\.[0-9]+)*)"
        r"(?:$|[^\w.\-]))",
        signs.ADDRESSES,
    ),
    "repositories": Hidden(r"(\bgit)(@[A-Za-z0-9.\-]+\.[A-Za-z]{2,}[:/])", signs.ADDRESSES),
}
"""What looks like something to hide and is none: it is parted between its two groups while others are hidden."""

VALUES: Final[dict[str, Hidden]] = {
    "private keys": Hidden(
        (
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
            r"(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)"
        ),
        signs.ISSUED,
    ),
    "tokens of JSON (JWT)": Hidden(
        r"(?:\b|_)eyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*)?", signs.ISSUED
    ),
    "authorization": Hidden(
        (
            rf"(?i)\bbearer\s+(?:{_T}*[0-9]{_T}{{5,}}|{_T}{{5,}}[0-9]{_T}*|{_T}{{20,}})|"
            r"\bbasic\s+[A-Za-z0-9+/]{16,}={0,2}"
        ),
        signs.SECRETS,
    ),
    "authorization, to its end": Hidden(
        rf"(?i)authorization{_IS}(?:digest|aws4-hmac-sha256|oauth|hawk)\s[^\r\n]*", signs.SECRETS
    ),
    "cookies": Hidden(r"""(?i)\b(?:set-)?cookie\s*[:=]\s*[^\s"'\[{=][^\r\n=]*=[^\r\n]*""", signs.SECRETS),
    "assignments": Hidden(
        rf"(?i)(?:{_SENSITIVE}){_ASSIGNED}",
        signs.SECRETS,
        narrow=rf"(?i){_NARROW}{_ASSIGNED}",
    ),
    "assignments in sentences": Hidden(
        rf"(?i)(?:{_SENSITIVE}){_SAID}",
        signs.SECRETS,
        narrow=rf"(?i){_NARROW}{_SAID}",
    ),
    "assignments, a line each": Hidden(
        rf"(?im)^[\s\-]*[\w.\-]*(?:{_SENSITIVE}){_LOOSE}[^\s,;&\"'}}\])]+[ \t]*$", signs.SECRETS
    ),
    "values beside names": Hidden(
        rf"(?i)(?:{_WORDS}|key|token)[\w.\-]*(?:{_QUOTE})?[\s,]+(?:{_QUOTE})?value{_IS}{_VALUE}", signs.SECRETS
    ),
    "elements and escapes": Hidden(
        r"(?i)<[\w:.\-]*(?:passw(?:or)?d|passphrase|secret)[\w.\-]*>[^<]*|"
        r"(?:passw(?:or)?d|passphrase|secret)[\w.\-]*%3d[^\s&\"']+",
        signs.SECRETS,
    ),
    "options": Hidden(
        rf"(?i)--[\w\-]*(?:password|passwd|token|api[_\-]key|secret|access-key)(?:[= ]+|{_QUOTE},\s*)"
        rf"(?:{_QUOTED}|[^\s\"']+)",
        signs.SECRETS,
    ),
    "token": Hidden(
        rf"(?i)token(?:{_STRICT}\\*[\"']?{_TOKEN}|{_LOOSE}(?:\\*[\"']{_TOKEN}|{_STRONG_TOKEN}))", signs.SECRETS
    ),
    "signed addresses": Hidden(
        (
            r"(?i)(?:[?&]|\\u0026|&amp;)(?:access_token|token|api_?key|sig|signature|password|secret)=[^&\s\"'\\]+|"
            rf"(?:{_SIGNED})=[^&\s\"'\\]+|^sig(?:nature)?=[^&\s\"'\\]{{6,}}"
        ),
        signs.SECRETS,
    ),
    "phones that are called so": Hidden(
        r"(?i)\b(?:phone|telephone|tel|mobile|cell|sms|whatsapp)(?:[ _]?(?:number|no\.?))?\W{1,4}\+?"
        r"[0-9][0-9 ().\-]{6,}[0-9]",
        signs.SECRETS,
    ),
    "token ids": Hidden(r"(?i)token_ids\\*[\"']?\s*[:=]\s*\[[^\]]*\]?", signs.SECRETS),
    "environment": Hidden(_VARIABLES, signs.ENVIRONMENT),
    "environment, as a map": Hidden(
        rf"environ\((?:{_BRACKETS}|(?s:.*))|\{{[^{{}}]*\\*[\"']HOME\\*[\"']\s*:[^{{}}]*\}}?", signs.SECRETS
    ),
    "contents, quoted": Hidden(rf"(?i)(?:{_WRITTEN}){_IS}{_QUOTED}", signs.CONTENTS),
    "contents, in brackets": Hidden(
        (
            rf"(?is)(?:{_WRITTEN}|choices)(?:{_QUOTE}\s*[:=]\s*(?:{_BRACKETS}|[\[{{].*)|"
            rf"\s*[:=]\s*[\[{{]\s*(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'){_nested(3)}*[\]}}]|"
            rf"\s*[:=]\s*[\[{{]\s*{_QUOTE}.*)"
        ),
        signs.CONTENTS,
    ),
    "contents, in words": Hidden(
        r"(?i)(prompt\s*[:=]|(?:^|[^\w\s]\s*|(?:model|chat|received|generated|full|the) )completion\s*[:=])"
        r"\s*[^\s\d'\"\\][^\r\n]*",
        signs.CONTENTS,
        keeps=True,
        narrow=r"(?i)(prompt\s*[:=])\s*[^\s\d'\"\\][^\r\n]*",
    ),
    "contents, of SGLang": Hidden(rf"(?i)reqinput\([^\r\n]*|\bout=(?:{_BRACKETS}|\{{.*)", signs.CONTENTS),
    "AWS": Hidden(
        r"(?:\b|_)(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b|\bABSK[A-Za-z0-9+/=]{20,}",
        signs.ISSUED,
    ),
    "GCP": Hidden(
        r"(?:\b|_)AIza[0-9A-Za-z_\-]{35}|(?:\b|_)ya29\.[0-9A-Za-z_\-]{16,}|\bGOCSPX-[A-Za-z0-9_\-]{16,}", signs.ISSUED
    ),
    "clouds of China": Hidden(
        r"(?:\b|_)LTAI[A-Za-z0-9]{12,30}\b|(?:\b|_)AKID[A-Za-z0-9]{13,40}\b|\bAKLT[A-Za-z0-9]{16,}", signs.ISSUED
    ),
    "code hosts and chats": Hidden(
        (
            r"(?:\b|_)gh[pousr]_[A-Za-z0-9]{20,}|(?:\b|_)github_pat_[A-Za-z0-9_]{20,}|"
            r"(?:\b|_)gl(?:pat|rt|dt)-[A-Za-z0-9_\-]{16,}|(?:\b|_)xox[abeoprs]-[A-Za-z0-9\-]{10,}|\bxapp-[A-Za-z0-9\-]{16,}|"
            r"\bhooks\.slack\.com/services/[A-Za-z0-9/]{16,}"
        ),
        signs.ISSUED,
    ),
    "registries and vaults": Hidden(
        (
            r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_\-]{16,}|\bdckr_pat_[A-Za-z0-9_\-]{16,}|"
            r"\bhvs\.[A-Za-z0-9_\-]{16,}|\bglsa_[A-Za-z0-9_]{20,}"
        ),
        signs.ISSUED,
    ),
    "models and payments": Hidden(
        (
            r"(?:\b|_)hf_[A-Za-z0-9]{16,}|(?:\b|_)sk-(?:[A-Za-z0-9]+-){0,6}[A-Za-z0-9_]{16,}[A-Za-z0-9_\-]*|"
            r"(?:\b|_)[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|\bnvapi-[A-Za-z0-9_\-]{20,}|\bapi_org_[A-Za-z0-9]{20,}|"
            r"\bgsk_[A-Za-z0-9]{20,}|\br8_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9+/=]{16,}|\bwandb_v1_[A-Za-z0-9_]{20,}|"
            r"\blsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}"
        ),
        signs.ISSUED,
    ),
    "addresses with passwords": Hidden(
        rf"{_USER}|\b[\w.\-]+:[^\s:@/\"']+@(?:tcp|unix)6?\(",
        signs.ADDRESSES,
        narrow=_USER,
    ),
    "logins of curl": Hidden(r"\bcurl [^\r\n]*(?:-u|--user)[ =]?[^\s:\"']+:[^\s\"']+", signs.ADDRESSES),
    "e-mail": Hidden(r"[A-Za-z0-9._%+\-]+(?:@|%40)[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}", signs.ADDRESSES),
    "phones": Hidden(PHONE, signs.NUMBERS, keeps=True),
    "phones without a country": Hidden(PHONE_HERE, signs.NUMBERS, keeps=True),
    "social security": Hidden(SOCIAL_SECURITY, signs.NUMBERS, keeps=True),
    "cards, in groups": Hidden(CARD_IN_GROUPS, signs.NUMBERS, keeps=True),
    "cards": Hidden(CARD, signs.NUMBERS, keeps=True),
}
"""What is hidden wherever text stands, by what it is."""
IN_NAMES: Final = (
    *("tokens of JSON (JWT)", "AWS", "GCP", "clouds of China", "code hosts and chats", "registries and vaults"),
    *(
        "models and payments",
        "e-mail",
        "phones",
        "phones without a country",
        "cards, in groups",
        "cards",
        "social security",
    ),
)
"""Of VALUES: those that the name of an attribute may hold."""
UNDER_IDS: Final = ("cards",)
"""Of VALUES: those that are no reason to touch what keys.IDS name."""
