"""Names of attributes under which something is hidden: regular expressions (RE2) that search anywhere in a name.

Lists and maps are made flat first: `token: [X]` is `token.0`, `content: [{"text": X}]` is `content.0.text`. CONTENTS
hold what people wrote or a model answered: their numbers are counts (`prompt_tokens`, `messages`: 3) and stay, their
text does not. CREDENTIALS never stay. What only tells of something hidden (KEPT) stays, and so do numbers that look
like those of cards and are none (MEASURES).
"""

from __future__ import annotations

from typing import Final

from components.otel_collector.words import KEYS, LONG_TOKENS, PASSES, SHORT_TOKENS, SHORTEST_TOKEN

_LEFT: Final = r"(?:^|[._\-/ ])"
_RIGHT: Final = r"(?:$|[._\-/\[])"
_IN: Final = r"(?:$|\.(?:[0-9]+|text|parts|input)(?:$|\.))"
_ONE: Final = r"(?:$|\.[0-9])"
"""The name of a value, or of what stands in a list."""

CONTENTS: Final[dict[str, str]] = {
    "prompts and completions": rf"(?i)prompt|completions?{_RIGHT}",
    "messages": rf"(?i)messages{_RIGHT}|{_LEFT}contents?{_IN}",
    "instructions": rf"(?i)instructions?{_IN}",
    "inputs and outputs": (
        rf"(?i)(?:{_LEFT}|user|model)(?:inputs?|outputs?)(?:[._]value)?{_IN}|span(?:in|out)puts$|"
        r"(?:inputs|outputs|(?:in|out)put[._]value|entity[._](?:in|out)put)\."
    ),
    "generated text": r"(?i)(?:generated|input|output|response|request)[._\-]?(?:text|body)(?:$|\.|[._\-]content)",
    "choices": rf"(?i)choices?\.(?:[0-9]+\.)?text{_ONE}|embedding\.text{_ONE}",
    "tool calls": (
        rf"(?i)(?:tool|function|toolcall)s?[._\-](?:.*[._\-])?(?:arguments|args|parameters|results?|input){_RIGHT}|"
        rf"tool[._\-]?calls{_ONE}|^arguments(?:$|\.)"
    ),
    "query parameters": r"(?i)db[._](?:query|operation|statement)[._]parameter",
    "a token": rf"(?i)token{_ONE}|token[._\-]?value{_ONE}",
    "e-mail": r"(?i)e[._\-]?mail",
    "cards": r"(?i)card[._\-]?(?:number|num|no|pan)(?:$|[._\-])|(?:credit|debit|payment)[._\-]?card",
}
"""Attribute names whose text is hidden; numbers, true and false stay."""

_LONG_TOKENS, _SHORT_TOKENS, _KEYS = "|".join(LONG_TOKENS), "|".join((*SHORT_TOKENS, SHORTEST_TOKEN)), "|".join(KEYS)

CREDENTIALS: Final[dict[str, str]] = {
    "authorization": (
        rf"(?i)authorization|{_LEFT}auth(?:{_ONE}|[._\-](?:header|key|value|data){_ONE})|{_LEFT}basic[._\-]?auth$"
    ),
    "cookies": r"(?i)cookie",
    "passwords": (
        rf"(?i)passw(?:or)?d|passphrase|passcode|{_LEFT}pwd{_ONE}|{_LEFT}(?:{'|'.join(PASSES)})[._\-]?pass{_ONE}"
    ),
    "secrets": r"(?i)secret|credential",
    "keys": rf"(?i)api[._\- ]?keys?(?:$|[._\-\[])|(?:{_KEYS})[._\- ]?keys?(?:$|[._\-\[])",
    "tokens": rf"(?i)(?:{_LONG_TOKENS})[._\-]?token(?:$|[._\-\[])|{_LEFT}(?:{_SHORT_TOKENS})[._\-]?token(?:$|[._\-\[])",
    "token": rf"(?i)(?:^|[.\-/])token{_ONE}|{_LEFT}(?:jwt|otp|totp|x-amz-signature){_RIGHT}",
    "token ids": r"(?i)token[._\-]?ids(?:$|[._\-\[])",
    "phones": (
        rf"(?i)(?:{_LEFT}|tele|cell|mobile|user|customer|client|contact|home|work|office)phone|"
        rf"msisdn|{_LEFT}mobile[._\-]?(?:number|num|no){_ONE}|{_LEFT}(?:tel|fax|mobile){_ONE}|{_LEFT}contact[._\-]?number{_ONE}"
    ),
    "personal numbers": rf"(?i){_LEFT}(?:cvv2?|cvc2?|ssn|iban){_RIGHT}",
    "environment": (
        rf"(?i){_LEFT}(?:environ|env[._\-]?vars?|environment[._\-]?variables?){_RIGHT}|(?:^|[._])env[.\[]|^envs{_ONE}|"
        r"(?:^|process\.)environment\."
    ),
    "arguments of a process": r"(?i)command_args",
}
"""Attribute names whose value is hidden, whatever it is."""

KEPT: Final = (
    r"(?i)(?:prompt|completion|secret|credential|passw(?:or)?d|token|cookie|key)s?[._\-]"
    r"(?:count|version|bucket|type|tokens|set|status)$|"
    r"(?:^|\.)(?:gen_ai\.prompt|k8s\.secret|deployment\.env(?:ironment)?)\.name$|prompt[._\-]name$|^environment\.name$|"
    r"(?:stop|eos|bos|pad)_token_ids?(?:$|\.)|(?:telephone|phone)_(?:calls|model)$|^email_queue$"
)
"""Of all these: names of what only tells of something hidden."""

_TELLING: Final = (
    "pass|pwd|secret|credential|auth|cookie|key|token|sig|bearer|basic|private|prompt|completion|content|input|output|"
    "generated|messages|instructions|tool_calls|arguments|choices|environ|home|phone|tel|mobile|cell|sms|whatsapp|"
    "curl |@|x-amz|x-goog|x-oss"
)
ASSIGNED: Final = rf"(?is)=.*(?:{_TELLING})|(?:{_TELLING}).*=|\bout=[\[{{]|=[^=]*=[^=]*=[^=]*="
"""Names that may hold what is hidden in text (patterns.py): it would be dear to search for that in every name."""

_AMOUNTS: Final = (
    "bytes?|size|mem|memory|count|counter|total|sum|tokens?|offset|limit|quota|capacity|usage|used|free|available|length|"
    "len|rows?|records?|lines?|samples?|flops?|rate|speed|bandwidth|throughput|parameters|params|numel|cycles|ticks|score|"
    "loss|max|min|avg|mean"
)
_TIMES: Final = (
    "time|timestamp|ts|epoch|date|duration|elapsed|latency|age|ttl|nanos|micros|millis|seconds?|secs?|ns|us|ms|start|end|"
    "created|updated|uptime"
)
_OF_MACHINES: Final = (
    "seq|sequence|step|seed|hash|checksum|crc|revision|version|generation|pid|tid|uid|gid|inode|port|shard|block|"
    "iteration|batch|rank|index|line|row|column|address|ptr|handle|status|commit"
)
_HAVE_IDS: Final = (
    "request|job|run|task|batch|session|trace|span|parent|process|thread|node|pod|container|gpu|device|event|object|group|"
    "block|worker|step|instance"
)


def _words(*families: str) -> str:
    """In one order, so that an engine tries what begins alike once. More than these would not fit its faster way."""
    return "|".join(sorted({word for family in families for word in family.split("|")}))


IDS: Final = rf"(?i){_LEFT}(?:{_words(_HAVE_IDS)})s?[._\-]?id{_RIGHT}|{_LEFT}(?:uid|commit)$"
"""Names of attributes that hold ids, which may be sixteen digits."""
MEASURES: Final[dict[str, str]] = {
    # First and anchored: it costs next to nothing, and many attributes have such a name.
    "semantic conventions": (
        r"^(?:server|network|net|k8s|service|process|host|os|container|telemetry|code|thread|cloud|deployment|otel)\."
    ),
    "amounts, times and numbers of machines": rf"(?i){_LEFT}(?:{_words(_AMOUNTS, _TIMES, _OF_MACHINES)})s?{_RIGHT}",
    "ids of things, and units": rf"{IDS}|(?:time|unix|at)[._]?(?:nano|ms|ns|us)?$",
}
"""Attribute names whose numbers are never taken for those of cards."""
