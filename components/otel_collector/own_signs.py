"""Signs of single patterns: which of a family, of which something was found, are worth searching a text for.

A pattern costs more for each letter than the signs of all families together, so that in a long text with one password
each runs only where its own sign is. They are searched in the same text as the families' (signs.py), and begin with
letters as they stand, for the same reason. No sign matches a mask, or what parts something that is spared: whatever is
found between two of them stood in the text before anything was hidden, and so did its sign.
"""

from __future__ import annotations

from typing import Final

from components.otel_collector.signs import BEGINS, BLANKS, ESCAPED, IN_ADDRESSES, IS, QUOTE, Both, Family

_BLANK: Final = r"(?:\s|\\[nrtf]|\\u000[9acd])"
_ASSIGNED: Final = f"{QUOTE}{BLANKS}[:=]"
_LOOSE: Final = f"{BLANKS}:{_BLANK}"
"""As in a sentence."""
_NOTHING: Final = f"{_ASSIGNED}{BLANKS}(?:none|null|nil|true|false)"
_NAMES: Final = ("pass(?:w(?:or)?d|phrase)", "secret", "credential", "authorization", "cookie")
_GAP: Final = r"[ .\-]"


def _narrow(end: str) -> Family:
    """Of plain words for credentials that such a text follows, maybe after the rest of a name."""
    return tuple(rf"{name}[\w.\-]*{end}" for name in _NAMES)


def _wide(end: str) -> Family:
    """Of all other names of credentials that such a text follows."""
    return rf"key[\w.\-]*{end}", f"token{end}", f"pass{end}", f"pwd{end}"


def _written(then: str) -> Family:
    """Of names of what people wrote or a model answered, as one that such a text follows."""
    end = f"s?(?:_?text)?{IS}{then}"
    names = ("prompt", "co(?:mpletion|ntent)", "in(?:put|struction)", "output", "generated", "messages", "tool_calls")
    return tuple(f"{name}{end}" for name in (*names, "arguments"))


WIDE: Final[dict[str, Family]] = {
    "no credential": _wide(_NOTHING),
    "assignments": _wide(_ASSIGNED),
    "assignments in sentences": _wide(_LOOSE),
    "contents, in words": (f"completion{BLANKS}[:=]",),
    "addresses with passwords": (r"@(?:tcp|unix)6?\(",),
}
"""By pattern: where none of them is, its narrow form finds as much."""
OWN: Final[dict[str, Family]] = {
    "no credential": _narrow(_NOTHING),
    "no prompt": (f"prompt{_NOTHING}", f"completion{_NOTHING}"),
    "units and libraries": (Both("@", (r"\.(?:service|socket|timer|mount|slice|scope|target|so)",)),),
    "repositories": ("git@",),
    "tokens of JSON (JWT)": ("eyj",),
    "authorization": ("bearer", "basic"),
    "authorization, to its end": (Both("authorization", ("digest", "aws4-hmac-sha256", "oauth", "hawk")),),
    "cookies": (f"cookie{BLANKS}[:=]",),
    "assignments": _narrow(_ASSIGNED),
    "assignments in sentences": _narrow(_LOOSE),
    "assignments, a line each": (*_narrow(_LOOSE), *_wide(_LOOSE)),
    "values beside names": (f"value{IS}",),
    "elements and escapes": tuple(f"{name}{ESCAPED}" for name in _NAMES[:2]),
    "token": (f"token{_ASSIGNED}",),
    "signed addresses": (
        *(f"{begin}{IN_ADDRESSES}" for begin in BEGINS),
        "sig(?:nature)?=",
        "x-(?:amz|goog|oss)-(?:credential|security-token)=",
    ),
    "phones that are called so": ("phone", "tel", "mobile", "cell", "sms", "whatsapp"),
    "token ids": ("token_ids",),
    "environment": (*("path=", "home=", "pwd=", "lang=", "user=", "shell=", "hostname=", "kubernetes_[a-z_]+="),),
    "environment, as a map": (r"environ\(", rf"home\\*[\"']{BLANKS}:"),
    "contents, quoted": _written(r"""[\\"']"""),
    "contents, in brackets": (*_written(r"[\[{]"), rf"choices{IS}[\[{{]"),
    "contents, in words": (f"prompt{BLANKS}[:=]",),
    "contents, of SGLang": (r"reqinput\(", r"out=[\[{]"),
    "AWS": ("a(?:kia|sia|gpa|ida|roa|npa|nva|bia|cca)[a-z0-9]{16}", "absk"),
    "GCP": ("aiza", r"ya29\.", "gocspx-"),
    "clouds of China": ("ltai", "akid", "aklt"),
    "code hosts and chats": (
        *("gh[pousr]_", "github_pat_", "gl(?:pat|rt|dt)-", "xox[abeoprs]-", "xapp-", r"hooks\.slack\.com/services/"),
    ),
    "registries and vaults": ("npm_", "pypi-", "dckr_pat_", r"hvs\.", "glsa_"),
    "models and payments": (
        *("hf_", "sk-", "k_(?:live|test)_", "nvapi-", "api_org_", "gsk_", "r8_", "whsec_", "wandb_v1_"),
        "lsv2_(?:pt|sk)_",
    ),
    "addresses with passwords": (Both("@", ("://",)),),
    "logins of curl": ("curl ",),
    "e-mail": ("@", "%40"),
    "phones": (r"\+[1-9]",),
    "phones without a country": (r"\) ?[2-9][0-9]{2}-[0-9]{4}", "-[2-9][0-9]{2}-[0-9]{4}"),
    "social security": ("-[0-9]{2}-[0-9]{4}",),
    "cards, in groups": (
        *(rf"{begin}(?:{_GAP}[0-9]{{4}}){{3}}" for begin in ("4[0-9]{3}", "5[0-9]{3}", "2[2-7][0-9]{2}")),
        *(rf"6(?:011|[25][0-9]{{2}})(?:{_GAP}[0-9]{{4}}){{3}}", rf"3[47][0-9]{{2}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{5}}"),
    ),
    "cards": ("4[0-9]{15}", "5[1-5][0-9]{14}", "2[2-7][0-9]{14}", "6(?:011|[25][0-9]{2})[0-9]{12}", "3[0-9]{13}"),
}
"""By pattern, of SPARED and VALUES: at least one of them, or of WIDE, is in whatever it matches."""
