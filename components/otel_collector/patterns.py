"""What is hidden unless nobody may see it: regular expressions (RE2) over names of attributes, and over text.

Three kinds of names. CONTENTS hold what people wrote or a model answered: their numbers are counts (`prompt_tokens`,
`messages`: 3) and stay, their text does not. CREDENTIALS never stay. MEASURES are numbers that look like telephone
numbers and are none. Text is searched as a whole: a secret is found in the middle of a sentence, of JSON that did not
parse, and of JSON within JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Hidden:
    """pattern: regular expression. signs: texts in lower case, one of which is in whatever the pattern matches.

    Looking for a text costs a hundredth of what a regular expression costs, and few records have any sign.
    """

    pattern: str
    signs: tuple[str, ...]


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

_LONG_TOKENS: Final = (
    "access|refresh|auth|bearer|session|csrf|xsrf|github|gitlab|slack|personal|service|account|device|oauth2?|"
    "security|private|user|login|reset|swanlab|wandb|vault|deploy|registry|bootstrap|secret"
)
_SHORT_TOKENS: Final = "id|api|hf|hub|bot|sas|sa|npm|pypi|join|kube|k8s|x|ci"
_KEYS: Final = (
    "access|private|secret|encryption|signing|ssh|gpg|pgp|client|master|account|license|auth|shared|consumer|deploy|"
    "webhook|swanlab|wandb|openai|anthropic|azure|huggingface"
)

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

CONTENT_SIGNS: Final = (
    *("prompt", "messages", "content", "instruction", "tool", "function", "parameter", "mail", "card", "spaninputs"),
    *("spanoutputs", 'input":', 'inputs":', 'output":', 'outputs":', 'put.value"', 'puts.value"', 'text"', 'body"'),
    *("text.content", "body.content", "text_content", "body_content", "text-content", "body-content"),
    *('token"', 'completion"', "completion.", "completion_", "completion-", "completion/", "completion["),
    *('completions":', "completions.", "completions_", "completions-", "completions["),
)
CREDENTIAL_SIGNS: Final = (
    *("auth", "cookie", "passw", "passphrase", "passcode", "pwd", "secret", "credential", "key", "jwt", "otp", "x-amz"),
    *("phone", "msisdn", "mobile", "cvv", "cvc", "ssn", "iban", "env"),
    *('token"', "token.", "token_", "token-", "token[", "token/", "tokenids"),
)
"""As of Hidden, for the names above: texts in the JSON of attributes."""

MEASURES: Final[dict[str, str]] = {
    # First and anchored: it costs next to nothing, and most attributes have such a name.
    "semantic conventions": (
        r"^(?:http|url|server|client|network|net|gen_ai|k8s|service|process|host|os|container|telemetry|code|thread|db|"
        r"rpc|messaging|faas|cloud|exception|error|user_agent|deployment|aws|gcp|azure|otel|log|llm|vllm|input)\."
    ),
    "amounts": (
        rf"(?i){_LEFT}(?:bytes?|size|mem|memory|count|counter|total|sum|tokens?|offset|limit|quota|capacity|usage|used|"
        rf"free|available|length|len|rows?|records?|lines?|samples?|flops?|rate|speed|bandwidth|throughput|parameters|"
        rf"params|numel|cycles|ticks|score|loss|value|max|min|avg|mean)s?{_RIGHT}"
    ),
    "times": (
        rf"(?i){_LEFT}(?:time|timestamp|ts|epoch|date|duration|elapsed|latency|age|ttl|nanos|micros|millis|seconds?|secs?|"
        rf"ns|us|ms|start|end|created|updated|uptime)s?{_RIGHT}|(?:time|unix|at)[._]?(?:nano|ms|ns|us)?$"
    ),
    "numbers of machines": (
        rf"(?i){_LEFT}(?:seq|sequence|step|seed|hash|checksum|crc|revision|version|generation|pid|tid|uid|gid|inode|port|"
        rf"shard|block|iteration|batch|rank|index|line|row|column|address|ptr|handle|code|status)s?{_RIGHT}"
    ),
    "ids of things": (
        rf"(?i){_LEFT}(?:request|job|run|task|batch|session|trace|span|parent|process|thread|node|pod|container|gpu|"
        rf"device|event|object|group|block|worker|step|instance)s?[._\-]?id{_RIGHT}"
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

_TOKEN_SIGNS: Final = ("token=", "token:", 'token"', "token'", "token\\", "token ", "token\t")
_SECRET_SIGNS: Final = ("passw", "passphrase", "secret", "credential", "authorization", "cookie", "key", *_TOKEN_SIGNS)
_ENDED: Final = ('":', '" ', "'", "\\", "=", ":", " =", " :")
"""What follows a word that something is said to be, in JSON and elsewhere; not the end of a path."""
_WRITTEN_SIGNS: Final = (
    *("prompt", "messages", "content", "instruction", "tool_calls", "arguments", "inputs", "outputs"),
    *("input_text", "output_text", "generated_text"),
    *(f"{word}{end}" for word in ("completion", "completions") for end in _ENDED),
)
_DIGITS: Final = ()
"""Numbers have no text in common: see DIGITS."""
DIGITS: Final = (
    r"[0-9]{7}|\+[1-9]|[0-9]{4}[ \-][0-9]{4}|[0-9]{4}[ \-][0-9]{6}|[0-9]{3}-[0-9]{2}-[0-9]{4}|"
    r"[0-9]{3}(?:\) ?|[ .\-])[0-9]{3}[ .\-][0-9]{4}"
)
"""Sign of what has none: in whatever a pattern without signs matches."""
VALUES: Final[dict[str, Hidden]] = {
    "private keys": Hidden(
        (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)"), ("-----begin",)
    ),
    "tokens of JSON (JWT)": Hidden(r"\beyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*)?", ("eyj",)),
    "authorization": Hidden(
        r"(?i)\bbearer\s+[A-Za-z0-9._~+/=\-]{6,}|\b(?:basic|digest)\s+[A-Za-z0-9+/]{16,}={0,2}",
        ("bearer", "basic ", "digest "),
    ),
    "cookies": Hidden(r"(?i)\b(?:set-)?cookie:[^\r\n]*", ("cookie:",)),
    "assignments": Hidden(rf"(?i)(?:{_SENSITIVE}){_IS}(?:(?:bearer|basic|digest)\s+)?{_VALUE}", _SECRET_SIGNS),
    "token": Hidden(rf"(?i)\btoken{_IS}\\*[\"']?[A-Za-z0-9._\-]*[A-Za-z][A-Za-z0-9._~+/=\-]{{6,}}", _TOKEN_SIGNS),
    "environment": Hidden(r"(?:\b[A-Z][A-Z0-9_]+=[^\s]*[\s,;]+){3,}[A-Z][A-Z0-9_]+=[^\s]*", ("=",)),
    "contents, quoted": Hidden(
        rf"(?i)(?:{_WRITTEN}){_IS}(?:\\*\"(?:\\.|[^\"\\])*(?:\"|\z)|'(?:\\.|[^'\\])*(?:'|\z))", _WRITTEN_SIGNS
    ),
    "contents, in brackets": Hidden(rf"(?is)(?:{_WRITTEN}){_QUOTE}\s*[:=]\s*[\[{{].*", _WRITTEN_SIGNS),
    "contents, in words": Hidden(
        r"(?i)(?:prompt|completion)\s*[:=]\s*[^\s\d'\"\\][^\r\n]*",
        ("prompt", "completion:", "completion=", "completion "),
    ),
    "token ids": Hidden(r"(?i)token_ids\\*[\"']?\s*[:=]\s*\[[^\]]*\]?", ("token_ids",)),
    "AWS": Hidden(
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b",
        ("akia", "asia", "agpa", "aida", "aroa", "anpa", "anva", "abia", "acca"),
    ),
    "GCP": Hidden(r"\bAIza[0-9A-Za-z_\-]{35}|\bya29\.[0-9A-Za-z_\-]{16,}", ("aiza", "ya29.")),
    "Aliyun and Tencent": Hidden(r"\bLTAI[A-Za-z0-9]{12,30}\b|\bAKID[A-Za-z0-9]{13,40}\b", ("ltai", "akid")),
    "code hosts and chats": Hidden(
        (
            r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{16,}|"
            r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"
        ),
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    ),
    "models and payments": Hidden(
        r"\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_\-]{16,}|\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
        ("hf_", "sk-", "k_live_", "k_test_"),
    ),
    "addresses with passwords": Hidden(r"://[^/\s:@\"']*:[^/\s@\"']+@", ("://",)),
    "signed addresses": Hidden(
        (
            r"(?i)(?:[?&]|\\u0026)(?:access_token|token|api_?key|sig|signature|password|secret|x-amz-signature|"
            r"x-amz-credential|x-amz-security-token)=[^&\s\"'\\]+"
        ),
        ("token=", "key=", "sig=", "signature=", "password=", "secret=", "credential="),
    ),
    "e-mail": Hidden(r"[A-Za-z0-9._%+\-]+(?:@|%40)[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}", ("@", "%40")),
    "phones": Hidden(
        r"\+[1-9][0-9]{0,2}[ \-]?(?:\([0-9]{1,4}\)[ \-]?)?[0-9]{2,4}(?:[ \-]?[0-9]{2,4}){2,4}\b|"
        r"\+[1-9][0-9]{0,2}(?:\.[0-9]{2,4}){2,4}\b|"
        r"(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}\b",
        _DIGITS,
    ),
    "phones that are called so": Hidden(
        r"(?i)\b(?:phone|telephone|tel|mobile|cell|sms|whatsapp)(?:[ _]?(?:number|no\.?))?\W{1,4}\+?"
        r"[0-9][0-9 ().\-]{6,}[0-9]",
        ("phone", "tel ", "tel.", "tel:", "tel=", 'tel"', "mobile", "cell", "sms", "whatsapp"),
    ),
    "cards": Hidden(
        (
            r"\b(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2}|62[0-9]{2})(?:[ \-]?[0-9]{4}){3}\b|"
            r"\b3[47][0-9]{2}[ \-]?[0-9]{6}[ \-]?[0-9]{5}\b"
        ),
        _DIGITS,
    ),
    "social security": Hidden(r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", _DIGITS),
}
"""What is hidden wherever text stands, by what it is."""
IN_NAMES: Final = (
    *("tokens of JSON (JWT)", "AWS", "GCP", "Aliyun and Tencent", "code hosts and chats", "models and payments"),
    *("e-mail", "phones", "cards", "social security"),
)
"""Of VALUES: those that the name of an attribute may hold."""
