"""What is hidden unless nobody may see it: regular expressions (RE2) over names of attributes, and over text.

Three kinds of names. CONTENTS hold what people wrote or a model answered: their numbers are counts (`prompt_tokens`,
`messages`: 3) and stay, their text does not. CREDENTIALS never stay. MEASURES are numbers that look like telephone
numbers and are none. Text is searched as a whole: a secret is found in the middle of a sentence, of JSON that did not
parse, and of JSON within JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components.otel_collector import signs
from components.otel_collector.words import KEYS, LONG_TOKENS, SHORT_TOKENS, SHORTEST_TOKEN


@dataclass(frozen=True)
class Hidden:
    """pattern: regular expression. signs: of signs.FAMILIES, or its own: one is in whatever the pattern matches."""

    pattern: str
    signs: signs.Family


_LEFT: Final = r"(?:^|[._\-/ ])"
_RIGHT: Final = r"(?:$|[._\-/\[])"

CONTENTS: Final[dict[str, str]] = {
    "prompts and completions": rf"(?i)prompt|completions?{_RIGHT}",
    "messages": rf"(?i)messages{_RIGHT}|{_LEFT}contents?$",
    "instructions": r"(?i)instructions?$",
    "inputs and outputs": rf"(?i){_LEFT}(?:inputs?|outputs?)(?:[._]value)?$|span(?:in|out)puts$",
    "generated text": r"(?i)(?:generated|input|output|response|request)[._\-]?(?:text|body)(?:$|[._\-]content)",
    "tool calls": rf"(?i)(?:tool|function)s?[._\-](?:.*[._\-])?(?:arguments|args|parameters|results?){_RIGHT}",
    "query parameters": r"(?i)db[._]query[._]parameter",
    "a token": r"(?i)token$",
    "e-mail": r"(?i)e[._\-]?mail",
    "cards": r"(?i)card[._\-]?(?:number|num|no|pan)(?:$|[._\-])|(?:credit|debit|payment)[._\-]?card",
}
"""Attribute names whose text is hidden; numbers, true and false stay."""

_LONG_TOKENS, _SHORT_TOKENS, _KEYS = "|".join(LONG_TOKENS), "|".join((*SHORT_TOKENS, SHORTEST_TOKEN)), "|".join(KEYS)

CREDENTIALS: Final[dict[str, str]] = {
    "authorization": rf"(?i)authorization|{_LEFT}auth(?:$|[._\-](?:header|key|value|data)$)",
    "cookies": r"(?i)cookie",
    "passwords": rf"(?i)passw(?:or)?d|passphrase|passcode|{_LEFT}pwd$",
    "secrets": r"(?i)secret|credential",
    "keys": rf"(?i)api[._\-]?keys?(?:$|[._\-\[])|(?:{_KEYS})[._\-]?keys?(?:$|[._\-\[])",
    "tokens": rf"(?i)(?:{_LONG_TOKENS})[._\-]?token(?:$|[._\-\[])|{_LEFT}(?:{_SHORT_TOKENS})[._\-]?token(?:$|[._\-\[])",
    "token": rf"(?i)(?:^|[.\-/])token$|{_LEFT}(?:jwt|otp|totp|x-amz-signature){_RIGHT}",
    "token ids": r"(?i)token[._\-]?ids(?:$|[._\-\[])",
    "phones": rf"(?i){_LEFT}(?:(?:tele|cell|mobile)[._\-]?)?phone|msisdn|{_LEFT}mobile[._\-]?(?:number|num|no)$",
    "personal numbers": rf"(?i){_LEFT}(?:cvv2?|cvc2?|ssn|iban){_RIGHT}",
    "environment": (
        rf"(?i){_LEFT}(?:environ|env[._\-]?vars?|environment[._\-]?variables?){_RIGHT}|(?:^|\.)env[.\[]|^envs$"
    ),
}
"""Attribute names whose value is hidden, whatever it is."""

_AMOUNTS: Final = (
    "bytes?|size|mem|memory|count|counter|total|sum|tokens?|offset|limit|quota|capacity|usage|used|free|available|length|"
    "len|rows?|records?|lines?|samples?|flops?|rate|speed|bandwidth|throughput|parameters|params|numel|cycles|ticks|score|"
    "loss|value|max|min|avg|mean"
)
_TIMES: Final = (
    "time|timestamp|ts|epoch|date|duration|elapsed|latency|age|ttl|nanos|micros|millis|seconds?|secs?|ns|us|ms|start|end|"
    "created|updated|uptime"
)
_OF_MACHINES: Final = (
    "seq|sequence|step|seed|hash|checksum|crc|revision|version|generation|pid|tid|uid|gid|inode|port|shard|block|"
    "iteration|batch|rank|index|line|row|column|address|ptr|handle|code|status"
)
_HAVE_IDS: Final = (
    "request|job|run|task|batch|session|trace|span|parent|process|thread|node|pod|container|gpu|device|event|object|group|"
    "block|worker|step|instance"
)


def _words(*families: str) -> str:
    """In one order, so that an engine tries what begins alike once. More than these would not fit its faster way."""
    return "|".join(sorted({word for family in families for word in family.split("|")}))


MEASURES: Final[dict[str, str]] = {
    # First and anchored: it costs next to nothing, and most attributes have such a name.
    "semantic conventions": (
        r"^(?:http|url|server|client|network|net|gen_ai|k8s|service|process|host|os|container|telemetry|code|thread|db|"
        r"rpc|messaging|faas|cloud|exception|error|user_agent|deployment|aws|gcp|azure|otel|log|llm|vllm|input)\."
    ),
    "amounts, times and numbers of machines": rf"(?i){_LEFT}(?:{_words(_AMOUNTS, _TIMES, _OF_MACHINES)})s?{_RIGHT}",
    "ids of things, and units": (
        rf"(?i){_LEFT}(?:{_words(_HAVE_IDS)})s?[._\-]?id{_RIGHT}|(?:time|unix|at)[._]?(?:nano|ms|ns|us)?$"
    ),
}
"""Attribute names whose numbers are never taken for telephone numbers."""

NUMBERS: Final = (
    r"^(?:1?[2-9][0-9]{2}[2-9][0-9]{6}|(?:86)?1[3-9][0-9]{9}|"
    r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2}|62[0-9]{2})[0-9]{12}|3[47][0-9]{13})$"
)
"""Whole values: telephones of North America and of China without a sign that says so, and cards."""

# A quote as it stands in text, and in JSON that is a string of JSON.
_QUOTE: Final = r"""\\*["']"""
_VALUE: Final = r"""(?:\\*"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s,;&"'}\])]+)"""
_IS: Final = rf"(?:{_QUOTE})?\s*(?:=>|:=|[:=])\s*"
_SENSITIVE: Final = (
    r"(?:passw(?:or)?d|passphrase|secret|credential|api[_\-. ]?key|authorization|cookie|"
    rf"(?:{_KEYS})[_\-. ]?key)[\w.\-]*|(?:{_LONG_TOKENS})[_\-]?token|\b(?:{_SHORT_TOKENS})[_\-]token"
)
_WRITTEN: Final = (
    r"prompts?|completions?|messages|contents?|input_text|output_text|generated_text|instructions|system_instructions|"
    r"tool_calls|arguments|inputs|outputs"
)

VALUES: Final[dict[str, Hidden]] = {
    "private keys": Hidden(
        (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)"), signs.ISSUED
    ),
    "tokens of JSON (JWT)": Hidden(r"\beyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*)?", signs.ISSUED),
    "authorization": Hidden(
        r"(?i)\bbearer\s+[A-Za-z0-9._~+/=\-]{6,}|\b(?:basic|digest)\s+[A-Za-z0-9+/]{16,}={0,2}",
        signs.SECRETS,
    ),
    "cookies": Hidden(r"(?i)\b(?:set-)?cookie:[^\r\n]*", signs.SECRETS),
    "assignments": Hidden(rf"(?i)(?:{_SENSITIVE}){_IS}(?:(?:bearer|basic|digest)\s+)?{_VALUE}", signs.SECRETS),
    "token": Hidden(rf"(?i)\btoken{_IS}\\*[\"']?[A-Za-z0-9._\-]*[A-Za-z][A-Za-z0-9._~+/=\-]{{6,}}", signs.SECRETS),
    "environment": Hidden(r"(?:\b[A-Z][A-Z0-9_]+=[^\s]*[\s,;]+){3,}[A-Z][A-Z0-9_]+=[^\s]*", signs.ENVIRONMENT),
    "contents, quoted": Hidden(
        rf"(?i)(?:{_WRITTEN}){_IS}(?:\\*\"(?:\\.|[^\"\\])*(?:\"|\z)|'(?:\\.|[^'\\])*(?:'|\z))", signs.CONTENTS
    ),
    "contents, in brackets": Hidden(rf"(?is)(?:{_WRITTEN}){_QUOTE}\s*[:=]\s*[\[{{].*", signs.CONTENTS),
    "contents, in words": Hidden(
        r"(?i)(?:prompt|completion)\s*[:=]\s*[^\s\d'\"\\][^\r\n]*",
        signs.CONTENTS,
    ),
    "token ids": Hidden(r"(?i)token_ids\\*[\"']?\s*[:=]\s*\[[^\]]*\]?", signs.SECRETS),
    "AWS": Hidden(
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b",
        signs.ISSUED,
    ),
    "GCP": Hidden(r"\bAIza[0-9A-Za-z_\-]{35}|\bya29\.[0-9A-Za-z_\-]{16,}", signs.ISSUED),
    "Aliyun and Tencent": Hidden(r"\bLTAI[A-Za-z0-9]{12,30}\b|\bAKID[A-Za-z0-9]{13,40}\b", signs.ISSUED),
    "code hosts and chats": Hidden(
        (
            r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{16,}|"
            r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"
        ),
        signs.ISSUED,
    ),
    "models and payments": Hidden(
        r"\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_\-]{16,}|\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
        signs.ISSUED,
    ),
    "addresses with passwords": Hidden(r"://[^/\s:@\"']*:[^/\s@\"']+@", signs.ADDRESSES),
    "signed addresses": Hidden(
        (
            r"(?i)(?:[?&]|\\u0026)(?:access_token|token|api_?key|sig|signature|password|secret|x-amz-signature|"
            r"x-amz-credential|x-amz-security-token)=[^&\s\"'\\]+"
        ),
        signs.SECRETS,
    ),
    "e-mail": Hidden(r"[A-Za-z0-9._%+\-]+(?:@|%40)[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}", signs.ADDRESSES),
    "phones": Hidden(
        r"\+[1-9][0-9]{0,2}[ \-]?(?:\([0-9]{1,4}\)[ \-]?)?[0-9]{2,4}(?:[ \-]?[0-9]{2,4}){2,4}\b|"
        r"\+[1-9][0-9]{0,2}(?:\.[0-9]{2,4}){2,4}\b|"
        r"(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}\b",
        signs.NUMBERS,
    ),
    "phones that are called so": Hidden(
        r"(?i)\b(?:phone|telephone|tel|mobile|cell|sms|whatsapp)(?:[ _]?(?:number|no\.?))?\W{1,4}\+?"
        r"[0-9][0-9 ().\-]{6,}[0-9]",
        signs.SECRETS,
    ),
    "cards": Hidden(
        (
            r"\b(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2}|62[0-9]{2})(?:[ \-]?[0-9]{4}){3}\b|"
            r"\b3[47][0-9]{2}[ \-]?[0-9]{6}[ \-]?[0-9]{5}\b"
        ),
        signs.NUMBERS,
    ),
    "social security": Hidden(r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", signs.NUMBERS),
}
"""What is hidden wherever text stands, by what it is."""
IN_NAMES: Final = (
    *("tokens of JSON (JWT)", "AWS", "GCP", "Aliyun and Tencent", "code hosts and chats", "models and payments"),
    *("e-mail", "phones", "cards", "social security"),
)
"""Of VALUES: those that the name of an attribute may hold."""
