"""One kind of thing that OTLP has, in statements of OTTL: all of its text as one, to look for signs in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.otel_collector import signs
from components.otel_collector.parts import literal
from components.otel_collector.patterns import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from components.otel_collector.args import Redaction

MASK: Final = "****"
_SCALARS: Final = ("IsString", "IsMap", "IsList", "IsInt", "IsDouble", "IsBool")
_NESTED: Final[signs.Family] = (signs.Both(r"\{", (r"\x01\{", r"\[\{", r",\{")),)
"""In text, of what is nested."""
_LISTS: Final[signs.Family] = (r"\[\[", r",\[")
"""In text, of lists in lists. Made flat as others are, two of their members would have one name."""
_NOTHING: Final = r"\x01\x02"
NO_JSON: Final = r"(?i)[\x01 ](?:nan|[+\-]?inf(?:inity)?|json: unsupported value[^\x02]*)(?:\x02|$)"
"""How collectors show a number that JSON does not have. A list or map with one in it is shown as nothing."""
_NAMED, CLOSED = '"\\u0001"', '"\\u0002"'
"""signs.NAMED and signs.CLOSED, as strings of OTTL."""


class Record:
    """Statements about one kind of thing that OTLP has. fields: its text beside attributes.

    What is found out about a record is kept in its cache.
    """

    def __init__(self, name: str, redaction: Redaction, fields: tuple[str, ...] = ()) -> None:
        self.name, self.fields, self.redaction = name, fields, redaction
        self.text, self.typed = self._cached("text"), self._cached("typed")
        self.all, self.chosen = self._cached("all"), self._cached("chosen")
        self.hit = self._is("hit")
        # A metric has no attributes, but for its metadata, which goes.
        self.attributes = "" if name == "metric" else f"{name}.attributes"
        self.body = name == "log"
        # What stands beside many records at once has no counts, and is short: its text is not looked at closer.
        self.fine = name not in ("resource", "scope", "metric")
        known = {found: name for name, found in signs.FAMILIES.items()}
        own = {hidden.signs: kind for kind, hidden in VALUES.items() if hidden.signs not in known}
        self.families = known | own

    def _cached(self, what: str) -> str:
        return f"{self.name}.cache[{literal(what)}]"

    def _is(self, what: str) -> str:
        return f"{self._cached(what)} == true"

    def _has(self, sign: str, text: str = "") -> str:
        return f"IsMatch({text or self.text}, {literal(sign)})"

    def _has_any(self, found: Iterable[signs.Sign], text: str = "") -> str:
        return " or ".join(self._has_one(sign, text) for sign in found)

    def _has_one(self, sign: signs.Sign, text: str) -> str:
        if isinstance(sign, str):
            return self._has(sign, text)
        then = sign.then if self.fine else _merged(sign.then)
        return f"({self._has(sign.first, text)} and ({self._has_any(then, text)}))"

    def _maps(self, attributes: str = "") -> Iterator[tuple[str, str]]:
        """Where names are, and what must be so as well. attributes: instead of those of the record."""
        if self.attributes:
            yield attributes or self.attributes, ""
        if self.body:
            yield "log.body", " and IsMap(log.body)"

    def _read(self) -> Iterator[str]:
        """All text of the record as one, in lower case. What is nested is made flat."""
        if self.body:
            # Bytes would go on as base64, which no expression reads; a list that is shown as nothing would go unread.
            known = " or ".join(f"{test}(log.body)" for test in _SCALARS)
            mask = f"set(log.body, {literal(MASK)})"
            yield f"{mask} where log.body != nil and not ({known})"
            yield f'{mask} where IsList(log.body) and log.body.string == ""'
        yield from self._set_text()
        if self.attributes:
            yield from self._make_flat()

    def _make_flat(self) -> Iterator[str]:
        flat, nested, nothing = self._cached("flat"), self._is("nested"), self._is("nothing")
        lists = f"({self._is('lists')})"
        yield f"set({self._cached('lists')}, true) where {self._has_any(_LISTS)}"
        yield f"set({self._cached('nested')}, true) where {self._has_any(_NESTED)}"
        yield f"set({self._cached('nothing')}, true) where {self._has(_NOTHING)}"
        for path, condition in self._maps():
            yield f"flatten({path}, resolveConflicts=true) where {nested} and {lists}{condition}"
            yield from self._flattened(path, f"{nested} and not {lists}{condition}")
            yield f"set({flat}, {path}) where {nothing}{condition}"
            yield f"flatten({flat}) where {nothing}{condition}"
            yield f"flatten({path}) where {nothing}{condition} and {self._has(NO_JSON, pairs_of(flat))}"
        yield from self._set_text(f"{nested} or {nothing}")

    def _flattened(self, path: str, where: str) -> Iterator[str]:
        """Of two that spell alike, both stay: the names of lists are others then, so only if there are such."""
        both = self._cached("both")
        yield f"set({both}, {path}) where {where}"
        yield f"flatten({both}, resolveConflicts=true) where {where}"
        yield f"flatten({path}) where {where}"
        yield f"set({path}, {both}) where {where} and Len({both}) != Len({path})"

    def _set_text(self, where: str = "") -> Iterator[str]:
        """As signs.PLAIN wants it."""
        parts = ([pairs_of(self.attributes)] if self.attributes else []) + [*self.fields]
        if self.body:
            parts.append("log.body.string")
        # A blank before what is no pair: it may begin with a quote, as only an odd name does.
        joined = f', {CLOSED}, " ", '.join(parts)
        suffix, also = (f" where {where}", f"({where}) and ") if where else ("", "")
        yield f'set({self.text}, ToLowerCase(Concat([{CLOSED}, {joined}, {CLOSED}], ""))){suffix}'
        if self.body:
            pairs = f'ToLowerCase(Concat([{self.text}, {pairs_of("log.body")}, ""], {CLOSED}))'
            yield f"set({self.text}, {pairs}) where {also}IsMap(log.body)"


def _merged(found: Iterable[signs.Sign]) -> signs.Family:
    """The same in fewer expressions: each takes longer, and a collector that starts has read them sooner."""
    plain = "|".join(one for one in found if isinstance(one, str))
    return (*((plain,) if plain else ()), *(one for one in found if not isinstance(one, str)))


def pairs_of(path: str) -> str:
    """A map as signs.PLAIN wants it."""
    return f"ToKeyValueString({path}, {_NAMED}, {CLOSED})"
