"""Puts each record into the shape that documentation promises: one text, one spelling of levels, names of its own.

A store of logs has one row per record, with one name space for everything: members of the body, attributes, what the
resource says and what the store itself knows. Of two values under one name it keeps one, and what it has names for
itself it drops. VictoriaLogs even ends itself at a record that says again of which pod it is. So what a sender wrote
under such a name goes on under SENT and that name.

All this is done after redaction: what is moved has been cleaned under the name that it was sent with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from components.otel_collector.fitting import SENT, fitting
from components.otel_collector.levels import SENT_LEVEL, read, spelled
from components.otel_collector.parts import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from components.objects import Manifest

TEXTS: Final = "transform/texts"
FLATTENING: Final = "transform/containers"
MESSAGE_KEYS: Final = ("message", "msg", "log", "event")
"""Names under which the text of a record may stand, in this order. What is empty or no text is none."""
STREAM_FIELDS: Final = ("k8s.namespace.name", "k8s.pod.name", "k8s.container.name")
"""What the resource alone may say: streams of the store are made of it."""
LONGEST_COPY: Final = 4096
"""Bytes of a record without a text up to which its JSON is the text. Of a large one the copy could make more than the
store takes."""
_RESERVED: Final = {
    **dict.fromkeys(("_msg", "_time", "_stream", "_stream_id", "severity_number", "severity_text"), ""),
    **dict.fromkeys(("scope.name", "scope.version"), ""),
    "trace_id": 'IsMatch(log.trace_id.string, "[1-9a-f]")',
    "span_id": 'IsMatch(log.span_id.string, "[1-9a-f]")',
    "event_name": 'log.event_name != ""',
}
"""Names that the store has for fields of its own and of a record, and when it uses them: always, if nothing is said."""
_OF_SERVICES: Final = (
    *("service.name", "service.namespace", "service.version", "service.instance.id", "host.name", "k8s.pod.uid"),
    *("k8s.node.name", "k8s.cluster.name", "deployment.environment.name"),
)
"""Names that resources have, and loggers often add to their records as well."""
_SIGNS: Final = r"([\\.+*?()|\[\]{}^$])"
_ESCAPED: Final = r"\$1"
"""What means something in an expression, and that it shall not."""
_CHOSEN, _TEXT, _JSON, _BOTH = (f"log.cache[{literal(name)}]" for name in ("key", "text", "json", "both"))


def texts(identity: Iterable[str] = ()) -> Manifest:
    """The gateway's processor. A statement that fails leaves its record as it is, and the rest is done.

    identity: attributes of resources that say whose they are.
    """
    return {
        "error_mode": "ignore",
        "log_statements": [
            {"context": "resource", "statements": [*_unambiguous_resource()]},
            {"context": "log", "conditions": [_has_ours()], "statements": [*_ours()]},
            read(),
            {"context": "log", "conditions": ["IsMap(log.body)"], "statements": [*_text_of_map(), *_others()]},
            {"context": "log", "conditions": ['log.body == nil or log.body == ""'], "statements": [*_text_beside()]},
            {"context": "log", "conditions": [_has(_begins())], "statements": [*_stream_of_resource_alone()]},
            {"context": "log", "statements": [*_other_than_resource((*identity, *_OF_SERVICES))]},
            {"context": "log", "conditions": [_has(_RESERVED)], "statements": [*_reserved()]},
            *spelled(),
            *fitting(STREAM_FIELDS),
        ],
    }


def flattening(runtime: tuple[str, ...]) -> Manifest:
    """The agent's processor: the text of a JSON line becomes the body, and attributes of the rest.

    So it is when a program sends its records itself. A line without a text stays the map that it is. runtime: names of
    attributes that tell of the line; a key of the same name goes on under SENT.
    """
    clashing = (
        statement
        for name in runtime
        for statement in _moved("log.body", name, f" and log.attributes[{literal(name)}] != nil")
    )
    taken = _has((f"{SENT}{name}" for name in runtime), "log.body")
    statements = [
        f"{_again('log.body')} where {taken}",
        *clashing,
        *_text_of_map(),
        f'merge_maps(log.attributes, log.body, "insert") where {_CHOSEN} != nil',
        f"set(log.body, {_TEXT}) where {_CHOSEN} != nil",
    ]
    return {
        "error_mode": "ignore",
        "log_statements": [{"context": "log", "conditions": ["IsMap(log.body)"], "statements": statements}],
    }


def _choose(where: str) -> Iterator[str]:
    """Finds the name of the text in a map: _CHOSEN, or nil if it has none."""
    for key in MESSAGE_KEYS:
        member = f"{where}[{literal(key)}]"
        yield f'set({_CHOSEN}, {literal(key)}) where {_CHOSEN} == nil and IsString({member}) and {member} != ""'


def _text_of_map() -> Iterator[str]:
    """Takes the text out of a body that is a map."""
    yield from _choose("log.body")
    for key in MESSAGE_KEYS:
        yield f"set({_TEXT}, log.body[{literal(key)}]) where {_CHOSEN} == {literal(key)}"
        yield f"delete_key(log.body, {literal(key)}) where {_CHOSEN} == {literal(key)}"


def _others() -> Iterator[str]:
    """What is left of the map becomes attributes; if one of its names is taken, all of it goes on as it is."""
    clash = 'log.cache["clash"]'
    yield f"set({_JSON}, log.body.string) where {_CHOSEN} == nil"
    yield f"set({_TEXT}, {_JSON}) where {_CHOSEN} == nil and Len({_JSON}) <= {LONGEST_COPY}"
    yield f"set({_BOTH}, log.attributes)"
    yield f'merge_maps({_BOTH}, log.body, "upsert")'
    yield f"set({clash}, true) where Len({_BOTH}) != Len(log.attributes) + Len(log.body)"
    # As names of their own, which are counted and measured (components/otel_collector/fitting.py).
    yield f"set(log.attributes, {_BOTH}) where {clash} == nil"
    yield f'replace_all_patterns(log.body, "key", "^", {literal(f"{SENT}body.")}) where {clash} == true'
    yield from _merged("log.body", f"{clash} == true")
    yield 'set(log.body, "")'
    yield f"set(log.body, {_TEXT}) where {_TEXT} != nil"


def _text_beside() -> Iterator[str]:
    """Gives a record without a body the text that it has among its attributes."""
    yield from _choose("log.attributes")
    for key in MESSAGE_KEYS:
        yield f"set(log.body, log.attributes[{literal(key)}]) where {_CHOSEN} == {literal(key)}"
        yield f"delete_key(log.attributes, {literal(key)}) where {_CHOSEN} == {literal(key)}"


def _unambiguous_resource() -> Iterator[str]:
    """No name of a stream twice in one resource: neither as sent, nor as a map that spells it."""
    own, once = "resource.attributes", 'resource.cache["once"]'
    yield f"set({once}, {{}})"
    yield f'merge_maps({once}, {own}, "upsert")'
    yield f"set({own}, {once}) where Len({once}) != Len({own})"
    maps = " or ".join(f"IsMap({own}[{literal(name)}])" for name in _begins())
    yield f"flatten({own}) where {maps}"


def _begins() -> list[str]:
    """Names of attributes that are one of STREAM_FIELDS, or in which as a map one of them may be."""
    parts = [name.split(".") for name in STREAM_FIELDS]
    return sorted({".".join(words[:length]) for words in parts for length in range(1, len(words) + 1)})


def _has(names: Iterable[str], path: str = "log.attributes") -> str:
    """Condition: one of these attributes is there. Most records have none, and cost no more than this."""
    return " or ".join(f"{path}[{literal(name)}] != nil" for name in names)


def _again(path: str) -> str:
    """Statement: names under SENT go on under SENT once more. Two of them never become one."""
    return f'replace_all_patterns({path}, "key", {literal(f"^{re.escape(SENT)}")}, {literal(SENT * 2)})'


def _has_ours() -> str:
    """Condition: a sender has a name of those that are given here."""
    names = (*(f"{SENT}{name}" for name in (*_RESERVED, *STREAM_FIELDS)), SENT_LEVEL)
    return f"{_has(names)} or (IsMap(log.body) and ({_has(names, 'log.body')}))"


def _ours() -> Iterator[str]:
    yield _again("log.attributes")
    yield f"{_again('log.body')} where IsMap(log.body)"


def _merged(moved: str, where: str) -> Iterator[str]:
    """Adds attributes of names under SENT. What a sender called so as well makes room."""
    yield f"set({_BOTH}, log.attributes) where {where}"
    yield f'merge_maps({_BOTH}, {moved}, "upsert") where {where}'
    yield f"{_again('log.attributes')} where {where} and Len({_BOTH}) != Len(log.attributes) + Len({moved})"
    yield f'merge_maps(log.attributes, {moved}, "upsert") where {where}'


def _other_than_resource(known: Iterable[str]) -> Iterator[str]:
    """What a record says otherwise than its resource goes on under SENT.

    By what a resource says all of its records are found, and it is one for all of them. known: names that both often
    have: they are compared one by one, which no statement can do with names that are not written down here.
    """
    said, is_other = 'log.cache["said"]', 'log.cache["other"]'
    other = f"{is_other} == true"
    compared = (f"set({said}, resource.attributes)", f'merge_maps({said}, log.attributes, "update")')
    yield from compared
    yield f"set({is_other}, true) where {said} != resource.attributes"
    for name in known:
        own, moved = (f"log.attributes[{literal(found)}]" for found in (name, SENT + name))
        of_resource = f"resource.attributes[{literal(name)}]"
        where = f"{other} and {own} != nil and {of_resource} != nil and {own} != {of_resource}"
        yield f"set({moved}, {own}) where {where} and {moved} == nil"
        yield f"set({own}, {of_resource}) where {where} and {moved} == {own}"
    yield from (f"{statement} where {other}" for statement in compared)
    yield f"set({is_other}, false) where {other} and {said} == resource.attributes"
    yield from _all_of_both(other)


def _all_of_both(other: str) -> Iterator[str]:
    """All that both name goes on under SENT. Dear, since an expression is made of the names. other: condition."""
    own, names = 'log.cache["own"]', 'log.cache["names"]'
    yield f'set({names}, Concat(Keys(resource.attributes), "\\u0001")) where {other}'
    yield f"replace_pattern({names}, {literal(_SIGNS)}, {literal(_ESCAPED)}) where {other}"
    yield f'replace_pattern({names}, "\\u0001", "|") where {other}'
    yield f'set({names}, Concat(["^(?:", {names}, ")$"], "")) where {other}'
    yield f"set({own}, log.attributes) where {other}"
    yield f"keep_matching_keys({own}, {names}) where {other}"
    yield f'merge_maps(log.attributes, resource.attributes, "update") where {other}'
    yield f'replace_all_patterns({own}, "key", "^", {literal(SENT)}) where {other}'
    yield from _merged(own, other)


def _stream_of_resource_alone() -> Iterator[str]:
    """What a record says of its stream goes on under SENT, or is dropped if the resource says the same."""
    family, own = 'log.cache["family"]', 'log.cache["own"]'
    begins, names = (f"^(?:{'|'.join(map(re.escape, found))})$" for found in (_begins(), STREAM_FIELDS))
    yield f"set({family}, log.attributes)"
    yield f"keep_matching_keys({family}, {literal(begins)})"
    yield f"flatten({family})"
    yield f"delete_matching_keys(log.attributes, {literal(begins)})"
    yield f"set({own}, {family})"
    yield f"keep_matching_keys({own}, {literal(names)})"
    yield f"delete_matching_keys({family}, {literal(names)})"
    yield f'merge_maps(log.attributes, {family}, "insert")'
    for name in STREAM_FIELDS:
        said, known = f"{own}[{literal(name)}]", f"resource.attributes[{literal(name)}]"
        yield f"set(log.attributes[{literal(name)}], {said}) where {said} != nil and {known} == nil"
        other = f"{said} != nil and {known} != nil and {said} != {known}"
        yield f"set(log.attributes[{literal(SENT + name)}], {said}) where {other}"


def _reserved() -> Iterator[str]:
    for name, condition in _RESERVED.items():
        yield from _moved("log.attributes", name, condition and f" and {condition}")


def _moved(path: str, name: str, condition: str = "") -> Iterator[str]:
    """Statements that put a member under SENT. A map has names of its own: `trace_id.x`, say."""
    member = f"{path}[{literal(name)}]"
    where = f"where {member} != nil and not IsMap({member}){condition}"
    yield f"set({path}[{literal(SENT + name)}], {member}) {where}"
    yield f"delete_key({path}, {literal(name)}) {where}"
