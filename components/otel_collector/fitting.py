"""Makes fit what the store of logs would drop without a word: names too long, too many of them, too many bytes.

VictoriaLogs answers for such a record as if it were stored. Here it keeps all that it has: what cannot be a field is
JSON in a field; of what is too large alone the ends are cut, with a mark. Ordinary records cost one look at their text.

All this is done last, of what goes to the store. Redaction has made maps flat: names are those that the store sees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.otel_collector.parts import MIB, literal
from components.otel_collector.record_text import CLOSED, pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.objects import Manifest

KIB: Final = 2**10
SENT: Final = "sent."
"""Begin of the names under which what would clash or not fit goes on."""
ATTRIBUTES, RESOURCE, SCOPE = (f"{SENT}{name}" for name in ("attributes", "resource", "scope"))
"""JSON of what cannot be fields."""
CUT: Final = " … (cut)"
MOST: Final = 500
"""Names of a record. The store takes 1000 with those of the resource and the scope, and 2000 of all records that it
writes together, so that a few with more, each with names of its own, would push others out."""
MOST_ABOVE: Final = 100
"""Of a resource and of a scope."""
LARGEST: Final = 2 * MIB - 256 * KIB
"""Bytes of a record beside its resource and scope, with a reserve for what the store has between fields."""
LARGEST_ABOVE: Final = 96 * KIB
"""Of a resource and of a scope."""
_LONGEST_NAME: Final = 128
_LONGEST_TEXT: Final = MIB
_TIERS: Final = (MIB + MIB // 2, MIB // 2, 64 * KIB, KIB)
"""Bytes to which values are cut until they fit: with MOST of the last length, and the longest text, they do."""
_WIDTHS: Final = {r"[^\x00-\x{ffff}]": 4, r"[^\x00-\x{7ff}]": 3, r"[^\x00-\x7f]": 2, "": 1}
"""Characters → bytes that one of them has in UTF-8, the widest first. Expressions count characters, the store bytes: a
name counts as if all of its characters were as wide as its widest."""
_MARK: Final = f"{SENT}marked"
"""Attribute of what does not fit, until it does."""


@dataclass(frozen=True)
class Place:
    """Where attributes are. most, largest: names and bytes that they may have. rest: name of what cannot be fields.

    kept: names that stay fields, whatever there is. longest: bytes of a name.
    """

    name: str
    rest: str
    most: int
    largest: int
    longest: int
    kept: tuple[str, ...] = ()

    @property
    def attributes(self) -> str:
        """Path of them."""
        return f"{self.name}.attributes"

    def cached(self, what: str) -> str:
        """Path of what was found out."""
        return f"{self.name}.cache[{literal(what)}]"

    @property
    def member(self) -> str:
        """Path of what cannot be fields."""
        return f"{self.attributes}[{literal(self.rest)}]"

    @property
    def marked(self) -> str:
        """Path of the mark that something does not fit: a group of statements knows nothing of another's cache."""
        return f"{self.attributes}[{literal(_MARK)}]"

    @property
    def long(self) -> tuple[str, str]:
        """Expressions for names in a text: a cheap one, and one that is right of ASCII. What has both may be long."""
        least = self.longest // max(_WIDTHS.values()) + 1
        return rf"\x02[^\x01]{{{least}}}", rf"\x02(?:[^\x01]{{{self.longest + 1}}}|[^\x01]*[^\x00-\x7f])"


def fitting(stream_fields: tuple[str, ...]) -> Iterator[Manifest]:
    """Groups of statements. stream_fields: names of the resource that must stay."""
    resource = Place("resource", RESOURCE, MOST_ABOVE, LARGEST_ABOVE, _LONGEST_NAME, stream_fields)
    prefix = len("scope.attributes.")
    scope = Place("scope", SCOPE, MOST_ABOVE, LARGEST_ABOVE, _LONGEST_NAME - prefix)
    log = Place("log", ATTRIBUTES, MOST, LARGEST, _LONGEST_NAME)
    for place in (resource, scope, log):
        yield {"context": place.name, "statements": [*_looked_at(place)]}
        condition = f"{place.marked} == true"
        yield {"context": place.name, "conditions": [condition], "statements": [*_fitted(place)]}
    for field in ("scope.name", "scope.version"):
        cut = f'set({field}, Concat([Substring({field}, 0, {KIB}, true), {literal(CUT)}], ""))'
        yield {"context": "scope", "conditions": [f"Len({field}) > {KIB + len(CUT)}"], "statements": [cut]}


def _text(path: str) -> str:
    """Each name begins after CLOSED."""
    return f'Concat([{CLOSED}, {pairs_of(path)}], "")'


def _looked_at(place: Place) -> Iterator[str]:
    """Marks what does not fit. What a sender calls as it is called here makes room."""
    text, own = place.cached("text"), place.attributes
    ours = (_MARK, f"{SENT}{place.name}.bytes")
    sent = " or ".join(f"{own}[{literal(name)}] != nil" for name in ours)
    names = literal(f"^(?:{'|'.join(map(re.escape, ours))})$")
    yield f'replace_all_patterns({own}, "key", {names}, {literal(f"{SENT}$0")}) where {sent}'
    yield f"set({text}, {_text(place.attributes)})"
    many, large = f"Len({place.attributes}) > {place.most}", f"{_bytes(place)} > {place.largest}"
    long = " and ".join(f"IsMatch({text}, {literal(names)})" for names in place.long)
    yield f"set({place.marked}, true) where {many} or {large} or {long}"


def _bytes(place: Place) -> str:
    body = f" + Len({place.name}.body.string)" if place.name == "log" else ""
    return f"Len({place.cached('text')}){body}"


def _fitted(place: Place) -> Iterator[str]:
    own, rest, text = place.attributes, place.cached("rest"), place.cached("text")
    yield f"delete_key({own}, {literal(_MARK)})"
    yield f"set({text}, {_text(own)})"
    yield f"set({place.cached('bytes')}, {_bytes(place)})"
    yield f"set({rest}, {own}) where Len({own}) > {place.most}"
    names = ", ".join(map(literal, place.kept))
    yield f"keep_keys({own}, [{names}]) where {rest} != nil"
    yield from _short_names(place)
    yield from _rest(place)
    yield from _small(place)


def _short_names(place: Place) -> Iterator[str]:
    """Takes out of the attributes those with a name that is too long."""
    own, rest = place.attributes, place.cached("rest")
    short, wide, long = (place.cached(name) for name in ("short", "wide", "long"))
    yield f"set({short}, {{}})"
    for width, bytes_of in _WIDTHS.items():
        characters, too_long = literal(width), literal(f"(?s)^.{{{place.longest // bytes_of + 1}}}")
        yield f"set({wide}, {own})"
        yield f"keep_matching_keys({wide}, {characters})"
        yield f"delete_matching_keys({own}, {characters})"
        yield f"set({long}, {wide})"
        yield f"keep_matching_keys({long}, {too_long})"
        yield f"delete_matching_keys({wide}, {too_long})"
        yield f'merge_maps({short}, {wide}, "upsert")'
        yield f"set({rest}, {{}}) where {rest} == nil and Len({long}) > 0"
        yield f'merge_maps({rest}, {long}, "upsert") where {rest} != nil'
    yield f"set({own}, {short})"


def _rest(place: Place) -> Iterator[str]:
    """What cannot be fields, as JSON in one."""
    rest, done = place.cached("rest"), place.cached("done")
    yield f"set({rest}[{literal(place.rest)}], {place.member}) where {rest} != nil and {place.member} != nil"
    yield f"set({done}, String({rest})) where {rest} != nil"
    # Of a number that JSON does not have nothing is made.
    yield f"stringify_all({rest}) where {rest} != nil and {done} == nil"
    yield f"set({done}, String({rest})) where {rest} != nil and {done} == nil"
    yield f"set({place.member}, {done}) where {done} != nil"


def _small(place: Place) -> Iterator[str]:
    """Cuts what is longest, until all of it fits."""
    own, text = place.attributes, place.cached("text")
    large = f"{place.cached('bytes')} > {place.largest}"
    if place.name == "log":
        body = place.cached("body")
        yield f'set({body}, {{"text": log.body.string}}) where {large} and Len(log.body.string) > {_LONGEST_TEXT}'
        yield f"truncate_all({body}, {_LONGEST_TEXT}, true, {literal(CUT)}) where {body} != nil"
        yield f'set(log.body, {body}["text"]) where {body} != nil'
    yield f"stringify_all({own}) where {large}"
    for length in _TIERS:
        yield f"set({text}, {_text(own)})"
        yield f"truncate_all({own}, {length}, true, {literal(CUT)}) where {_bytes(place)} > {place.largest}"
    yield f"set({own}[{literal(f'{SENT}{place.name}.bytes')}], {place.cached('bytes')}) where {large}"
