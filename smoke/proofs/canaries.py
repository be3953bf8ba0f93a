"""Canaries: one message per signal with something to hide in every field, each recognisable, and innocent neighbours.

What is hidden on every stack: values of certain keys, at any depth; e-mail addresses and numbers of cards and
telephones wherever they stand, as text and as numbers; keys and environments that somebody prints. Addresses are of
example.com, numbers of cards are right by their check digit and belong to nobody.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from smoke.judge.leaks import Canary

DENIED_KEYS: Final = (
    *("authorization", "http.request.header.cookie", "set-cookie", "password", "api_key", "x-api-key"),
    *("client_secret", "access_token", "gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages"),
    *("gen_ai.output.messages", "gen_ai.system_instructions", "process.environment_variable.DB_PASSWORD"),
)
"""Keys whose values are hidden whatever they are."""
PRINTED: Final = (
    ("bearer token", "Authorization: Bearer {0}"),
    ("password in JSON", '{{"user": "smoke", "password": "{0}"}}'),
    ("password of an assignment", "connecting with password={0} to db"),
    ("environment", "PATH=/usr/bin AWS_SECRET_ACCESS_KEY={0} HOME=/"),
)
"""Texts that hold what must be hidden, by the words around it."""
TOKENS: Final = 271828
"""Number of tokens: what has `token` in its name is no secret for that."""
DIGITS: Final = 11


class Flock:
    """Makes canaries, each with a number of its own, and keeps them. signal: what they are put into."""

    def __init__(self, word: str) -> None:
        """word: that of the run, with which each text begins."""
        self.word = word
        self.digits = "4" + "".join(secrets.choice("123456789") for _ in range(DIGITS))
        """With which each number of a card begins."""
        self.signal = ""
        self.made: list[Canary] = []

    def plain(self, field: str) -> str:
        """A word that only its place makes a secret."""
        token = f"{self.word}x{len(self.made):03d}q"
        self.made.append(Canary(self.signal, field, (token,)))
        return token

    def address(self, field: str) -> str:
        """An e-mail address."""
        return f"{self.plain(field)}@example.com"

    def card(self, field: str) -> int:
        """The number of a card."""
        number = with_check_digit(f"{self.digits}{len(self.made):03d}")
        broken = f"{number[0]}.{number[1:]}".rstrip("0")
        self.made.append(Canary(self.signal, field, (number, broken)))
        return int(number)

    def telephone(self, field: str) -> str:
        """A telephone number as people write it; these are given to nobody."""
        last = f"01{secrets.randbelow(90) + 10}"
        number = f"+1 713-555-{last}"
        self.made.append(Canary(self.signal, field, (number, f"713-555-{last}", f"1713555{last}")))
        return number

    def text(self, field: str) -> str:
        """Words with an address and a number of a card in them."""
        return f"smoke {self.address(f'{field} (address)')} {self.card(f'{field} (number)')} end"

    def attributes(self, where: str, innocent: str) -> dict[str, Any]:
        """Attributes of every kind, with a canary in each place. innocent: a value that must arrive."""
        return {
            f"smoke.{innocent}": f"{self.word}{innocent}",
            "gen_ai.usage.input_tokens": TOKENS,
            "note": self.text(f"text of a {where} attribute"),
            "amount": self.card(f"whole number of a {where} attribute"),
            "ratio": float(self.card(f"broken number of a {where} attribute")),
            "list": [
                "x",
                self.address(f"list of a {where} attribute (address)"),
                self.card(f"list of a {where} attribute (number)"),
            ],
            "map": {
                "in": self.address(f"map of a {where} attribute"),
                "deep": {"er": self.address(f"map in a map of a {where} attribute")},
            },
            "http.request.header.authorization": self.plain(f"denied key of a {where} attribute"),
            "outer": {"password": self.plain(f"denied key in a map of a {where} attribute")},
            "several": [{"cookie": self.plain(f"denied key in a list of a {where} attribute")}],
            self.address(f"key of a {where} attribute"): "value",
        }

    def denied(self, where: str) -> dict[str, Any]:
        """Every key that is denied on every stack."""
        return {key: self.plain(f"{where} attribute {key!r}") for key in DENIED_KEYS}

    def bodies(self) -> list[Any]:
        """Bodies of log records: one of each kind that OTLP has, and texts as programs print them."""
        inner = {
            "y": self.address("map in a list of the body"),
            "authorization": self.plain("denied key deep in the body"),
        }
        mapped = {
            "smoke.body": f"{self.word}body",
            "a": self.address("map of the body"),
            "n": self.card("number in a map of the body"),
            "deep": {"x": [inner]},
            "password": {"z": self.plain("map under a denied key of the body")},
            self.address("key of a map of the body"): 1,
        }
        texts = [form.format(self.plain(f"body, {what}")) for what, form in PRINTED]
        return [
            self.text("text of the body"),
            mapped,
            self.card("body that is a number"),
            [self.address("list of the body (address)"), self.card("list of the body (number)")],
            f"call {self.telephone('body, telephone number')} now",
            *texts,
        ]


def with_check_digit(digits: str) -> str:
    """The digits and the one behind them that the formula of Luhn gives."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled  # noqa: PLR2004  # the largest digit
    return f"{digits}{-total % 10}"
