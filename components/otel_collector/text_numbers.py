"""Numbers of telephones and cards as they stand in text: regular expressions (RE2), of which the first group stays.

Numbers of machines look alike: shapes, sizes, fractions, ids. What stands before a number says most, and so does that
the parts of a number are parted in one way.
"""

from __future__ import annotations

from typing import Final


def _but(number: str) -> str:
    """As many digits, other than these."""
    others = "".join(digit for digit in "0123456789" if digit != number[0])
    rest = number[1:]
    if not rest:
        return f"[{others}]"
    return f"(?:[{others}][0-9]{{{len(rest)}}}|{number[0]}{_but(rest)})"


_SIXTEEN: Final = "(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2}|62[0-9]{2})[0-9]{12}"
_OTHERS: Final = "3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
CARDS: Final = rf"^(?:{_SIXTEEN}|{_OTHERS})$"
"""Whole values. Telephones are numbers like any other, but for the names they stand under."""
_BEFORE: Final = r"(^|[^\w.]|card[_\-]?)"
CARD: Final = rf"{_BEFORE}(?:{_SIXTEEN}|{_OTHERS})\b"
_BEGINS: Final = rf"4{_but('096')}|5(?:[2-5][0-9]{{2}}|1{_but('20')})|2[2-7][0-9]{{2}}|6011|65[0-9]{{2}}|62[0-9]{{2}}"
# Sizes of models, which stand in a row: where the next one is the same, they are no card.
_SIZES: Final = ("4096", "5120")


def _groups(gap: str) -> str:
    begins = "|".join((rf"(?:{_BEGINS}){gap}[0-9]{{4}}", *(f"{size}{gap}{_but(size)}" for size in _SIZES)))
    return rf"(?:{begins})(?:{gap}[0-9]{{4}}){{2}}|3[47][0-9]{{2}}{gap}[0-9]{{6}}{gap}[0-9]{{5}}"


CARD_IN_GROUPS: Final = rf"{_BEFORE}(?:{'|'.join(map(_groups, (' ', '-', '[.]')))})\b"
PHONE: Final = (
    r"(^|[^\w.+])\+[1-9](?:"
    # In one, or in groups that are parted alike.
    r"(?:-?[0-9]){9,14}|"
    r"[0-9]{0,2}(?:[ \-]?\([0-9]{1,4}\)[ \-]?[0-9]{3,4}|(?:[ \-][0-9]{1,4}){0,3}[ \-][0-9]{3,4})[ \-][0-9]{3,4}"
    r"(?:[ \-][0-9]{2,4})*|"
    r"[0-9]{0,2}(?:[ \-]?\([0-9]{1,4}\))?(?:[ \-][0-9]{1,4}){0,3}[ \-][0-9]{6,12}|"
    r"[0-9]{0,2}[ \-][0-9]{1,4}(?:[ \-][0-9]{2}){3,5}|"
    r"[0-9]{0,2}(?:\.[0-9]{2,4}){2,4})\b"
)
"""With the sign of a country."""
PHONE_HERE: Final = r"(^|[^\w\-.])(?:1-)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}-)[2-9][0-9]{2}-[0-9]{4}\b"
"""Of North America, without one."""
SOCIAL_SECURITY: Final = r"(^|[^\w\-])[0-9]{3}-[0-9]{2}-[0-9]{4}\b"
