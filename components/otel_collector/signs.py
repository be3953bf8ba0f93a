"""Signs of what is hidden: cheap regular expressions (RE2), at least one of which matches wherever a pattern does.

Most records have none, and none is all that they pay for. Signs are searched in the lower case text of a whole record:
attributes as `name NAMED value`, each followed by CLOSED (redaction.py); lists as JSON. Every sign begins with letters
as they stand, which is what makes it cheap: the collector's engine looks for those first, in a hundredth of the time.
A sign may match more than its pattern, and then only costs; where it matched less, something would go on in clear
(tests/offline/components/otel_collector/test_signs.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components.otel_collector.words import KEYS, LONG_TOKENS, PASSES, SHORT_TOKENS, SHORTEST_TOKEN

NAMED, CLOSED = "\x01", "\x02"
"""After a name, and after a value."""


@dataclass(frozen=True)
class Both:
    """A sign that says something only beside one of others. first: many records have it. then: any of them."""

    first: str
    then: tuple[Sign, ...]


Sign = str | Both
Family = tuple[Sign, ...]


@dataclass(frozen=True)
class Text:
    """How a name stands in a text. any: regular expression of letters within it. end: what follows its last letter."""

    any: str
    end: str

    @property
    def rest(self) -> str:
        """From anywhere in the name to its end."""
        return f"{self.any}{self.end}"

    @property
    def right(self) -> str:
        """To its end from the end of a word."""
        return rf"(?:[._\-/\[]{self.any})?{self.end}"


PLAIN: Final = Text(any=r"[^\x01\x02]*", end=r"\x01")
"""Where signs are searched first. It does not tell a number from text."""
TYPED: Final = Text(any=r'(?:[^"\\]|\\.)*', end=r'":["\[]')
"""JSON, of names whose value is text or a list."""

# Of blanks and quotes, as they stand in text and as JSON writes them.
BLANKS: Final = r"(?:\s|\\[nrtf]|\\u000[9acd])*"
QUOTE: Final = r"""(?:\\*["'])?"""
_SAID: Final = rf"[\w.\-]*{QUOTE}{BLANKS}[:=]"
IS: Final = rf"{QUOTE}{BLANKS}[:=]=?(?:>|\\u003e)?{BLANKS}"
_WRITTEN: Final = rf"""{IS}[\\"'\[{{]"""
_IN_WORDS: Final = rf"""{BLANKS}[:=]{BLANKS}[^\s0-9'"]"""
ESCAPED: Final = r"[\w.\-]*(?:>|\\u003e|%3d)"
"""In markup, and in addresses."""
IN_ADDRESSES: Final = (
    r"(?:(?:access_|x-amz-security-)?token|api_?key|sig|(?:x-amz-)?signature|password|secret|x-amz-credential)="
)
BEGINS: Final = (r"\?", "&", "u0026", "amp;")
"""What stands before those."""
_CALLED: Final = r"(?:[ _]?(?:number|no\.?))?(?:\W|\\[nrtfb]|\\u[0-9a-f]{4}){1,8}\+?[0-9][0-9 ().\-]{6}"
_APART: Final = r"(?:[^a-z0-9]|\\[nrtfb]|\\u[0-9a-f]{4})"
_FOURS: Final = r"(?:[ .\-]?[0-9]{4}){3}"


def contents(text: Text) -> Family:
    """Of what people wrote or a model answered, by names in such a text and by what stands in values."""
    one = rf"(?:\.[0-9]{text.any})?{text.end}"
    below, said = rf"(?:\.{text.any})?{text.end}", rf"s?(?:_?text)?{_WRITTEN}"
    body = rf"[._\-]?(?:text|body)(?:[._\-]content{text.any}|\.{text.any})?{text.end}"
    put = rf"(?:s?(?:[._]value)?{below}|{said}|{body})"
    calls = rf"s?[._\-](?:{text.any}[._\-])?(?:arguments|args|parameters|results?|input){text.right}"
    return (
        rf"prompt(?:{text.rest}|{said}|{_IN_WORDS})",
        rf"co(?:mpletion(?:s?{text.right}|{said}|{_IN_WORDS})|ntent(?:s?{below}|{said}))",
        rf"choice(?:s?\.(?:[0-9]+\.)?text{one}|s{_WRITTEN})",
        rf"messages(?:{text.right}|{_WRITTEN})",
        rf"in(?:struction(?:s?{below}|s{_WRITTEN})|put{put})",
        rf"output{put}",
        rf"generated(?:_?text{_WRITTEN}|{body})",
        rf"re(?:sponse|quest){body}",
        r"reqinput\(",
        rf"embedding\.text{one}",
        rf"tool(?:(?:call)?{calls}|[._\-]?calls{one}|_calls{_WRITTEN})",
        rf"function{calls}",
        rf"arguments(?:{below}|{_WRITTEN})",
        rf"db[._](?:query|operation|statement)[._]parameter{text.rest}",
        rf"token(?:[._\-]?value)?{one}",
        rf"mail{text.rest}",
        rf"card{text.rest}",
        r"out=[\[{]",
    )


_END, _REST, _RIGHT = PLAIN.end, PLAIN.rest, PLAIN.right
_ONE: Final = rf"(?:\.[0-9]{PLAIN.any})?{_END}"
SECRETS: Final[Family] = (
    rf"pass(?:w(?:or)?d|phrase|code)(?:{_REST}|{_SAID})",
    rf"pass(?:w(?:or)?d|phrase){ESCAPED}",
    Both(rf"pass(?:{_ONE}|{QUOTE}{BLANKS}[:=])", tuple(rf"{one}[._\-]?pass" for one in PASSES)),
    rf"pwd(?:{_ONE}|{QUOTE}{BLANKS}[:=])",
    rf"secret(?:{_REST}|{_SAID}|{ESCAPED})",
    rf"credential(?:{_REST}|{_SAID})",
    rf"cookie(?:{_REST}|{_SAID})",
    rf"auth(?:orization(?:{_REST}|{_SAID})|(?:[._\-](?:header|key|value|data))?{_ONE})",
    Both(rf"key(?:s?{_RIGHT}|{_SAID})", tuple(rf"{key}[._\- ]?key" for key in ("api", *KEYS))),
    Both(
        rf"token(?:{_RIGHT}|{QUOTE}{BLANKS}[:=])",
        (
            *(rf"{token}[._\-]?token" for token in (*LONG_TOKENS, *SHORT_TOKENS)),
            # Not `max_token`.
            Both(rf"{SHORTEST_TOKEN}[._\-]?token", (rf"{_APART}{SHORTEST_TOKEN}[._\-]?token",)),
            *(rf"{left}token{_ONE}" for left in (r"\x02", r"\.", "-", "/")),
        ),
    ),
    rf"token{IS}\\*[\"']?[a-z0-9._\-]*[a-z][a-z0-9._~+/=\-]{{6}}",
    rf"token[._\-]?ids(?:{_RIGHT}|\\*[\"']?{BLANKS}[:=]{BLANKS}\[)",
    Both(
        "value",
        (
            rf"(?:passw(?:or)?d|passphrase|secret|credential|key|authorization|cookie|token)[\w.\-]*{QUOTE}"
            rf"(?:[\s,]|\\[nrtf]|\\u000[9acd])+{QUOTE}value{IS}",
        ),
    ),
    r"--[\w\-]*(?:password|passwd|token|api[_\-]key|secret|access-key)[= \\\"']",
    rf"command_args{_REST}",
    rf"jwt{_RIGHT}",
    rf"otp{_RIGHT}",
    rf"x-amz-signature{_RIGHT}",
    r"x-(?:amz|goog|oss)-(?:credential|security-token)=",
    "sig(?:nature)?=",
    rf"phone(?:{_REST}|{_CALLED})",
    rf"msisdn{_REST}",
    rf"mobile(?:(?:[._\-]?(?:number|num|no))?{_ONE}|{_CALLED})",
    rf"tel(?:{_ONE}|{_CALLED})",
    rf"fax{_ONE}",
    rf"contact[._\-]?number{_ONE}",
    rf"cv[vc]2?{_RIGHT}",
    rf"ssn{_RIGHT}",
    rf"iban{_RIGHT}",
    rf"env(?:iron{_RIGHT}|(?:ironment)?[._\-]?(?:vars?|variables?){_RIGHT}|[.\[]{_REST}|{_END}\[|s{_ONE})",
    Both(r"environment\.", (r"[\x02]environment\.", r"process\.environment\.")),
    r"environ\(",
    rf"home\\*[\"']{BLANKS}:",
    r"bearer[\s\\][\s\\a-z0-9._~+/=\-]{6}",
    r"basic[\s\\][\s\\a-z0-9+/]{16}",
    *(f"{name}{_CALLED}" for name in ("cell", "sms", "whatsapp")),
    Both("=", tuple(f"{begin}{IN_ADDRESSES}" for begin in BEGINS)),
)
CONTENTS: Final = contents(PLAIN)
ISSUED: Final[Family] = (
    r"-----begin ",
    r"eyj[a-z0-9_\-]{6,}\.[a-z0-9_\-]{6}",
    (
        r"a(?:(?:kia|sia|gpa|ida|roa|npa|nva|bia|cca)[a-z0-9]{16}|iza[0-9a-z_\-]{35}|kid[a-z0-9]{13}|"
        r"klt[a-z0-9]{16}|bsk[a-z0-9+/=]{20}|pi_org_[a-z0-9]{20})"
    ),
    r"ltai[a-z0-9]{12}",
    r"ya29\.[0-9a-z_\-]{16}",
    (
        r"g(?:h[pousr]_[a-z0-9]{20}|ithub_pat_[a-z0-9_]{20}|l(?:pat|rt|dt)-[a-z0-9_\-]{16}|ocspx-[a-z0-9_\-]{16}|"
        r"lsa_[a-z0-9_]{20}|sk_[a-z0-9]{20})"
    ),
    r"xox[abeoprs]-[a-z0-9\-]{10}",
    r"xapp-[a-z0-9\-]{16}",
    r"hf_[a-z0-9]{16}",
    r"hvs\.[a-z0-9_\-]{16}",
    r"hooks\.slack\.com/services/[a-z0-9/]{16}",
    r"sk-[a-z0-9_\-]{16}",
    r"k_(?:live|test)_[a-z0-9]{10}",
    r"npm_[a-z0-9]{30}",
    r"nvapi-[a-z0-9_\-]{20}",
    r"pypi-[a-z0-9_\-]{16}",
    r"dckr_pat_[a-z0-9_\-]{16}",
    r"r8_[a-z0-9]{20}",
    r"whsec_[a-z0-9+/=]{16}",
    r"wandb_v1_[a-z0-9_]{20}",
    r"lsv2_(?:pt|sk)_[a-z0-9_]{20}",
)
ASSIGNED_IN_NAME: Final = r"=[^=\x01\x02]*\x01"
# Four of them in one text, or one in a name.
ENVIRONMENT: Final[Family] = (r"=(?:[^=]*=[^=]*=[^=]*=|[^=\x01\x02]*\x01)",)
ADDRESSES: Final[Family] = (
    r"://[^/\s:@\"']*:[^\s@\"']+@",
    r"@(?:tcp|unix)6?\(",
    Both("curl ", ("-u", "--user")),
    *(rf"{at}[a-z0-9\-]+(?:\.[a-z0-9\-]+)*\.[a-z]{{2}}" for at in ("@", "%40")),
)
NUMBERS: Final[Family] = (
    r"\+[1-9][0-9 ().\-]{6}",
    r"\) ?[2-9][0-9]{2}-[0-9]{4}",
    r"-(?:[0-9]{2}-|[2-9][0-9]{2}-)[0-9]{4}",
    *(f"{begin}{_FOURS}" for begin in ("4[0-9]{3}", "5[1-5][0-9]{2}", "2[2-7][0-9]{2}")),
    rf"6(?:011|[25][0-9]{{2}}){_FOURS}",
    r"3(?:[47][0-9]{2}[ .\-]?[0-9]{6}[ .\-]?[0-9]{5}|(?:0[0-5]|[68][0-9])[0-9]{11})",
)
FAMILIES: Final[dict[str, Family]] = {
    "secrets": SECRETS,
    "contents": CONTENTS,
    "issued": ISSUED,
    "environment": ENVIRONMENT,
    "addresses": ADDRESSES,
    "numbers": NUMBERS,
}
"""By what they are of. Names of attributes have SECRETS and CONTENTS; which patterns have, patterns.py says."""
