"""Redaction of all three signals: two processors in a row, of which neither alone sees every field.

`transform/redaction` looks for signs of what is hidden in the text of a whole record, and where there is one, makes
nested attributes flat, masks by name, and masks by pattern wherever text stands. It takes off what it cannot clean:
links, filtered attributes of exemplars, metadata, schema addresses. `redaction/numbers` masks numbers that are whole
values. It fails closed: a statement that fails has its batch refused, and senders keep it.

Attributes whose value is bytes are not searched, since neither processor can tell them from text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.otel_collector.parts import literal
from components.otel_collector.patterns import (
    CONTENT_SIGNS,
    CONTENTS,
    CREDENTIAL_SIGNS,
    CREDENTIALS,
    DIGITS,
    IN_NAMES,
    MEASURES,
    NUMBERS,
    VALUES,
    Hidden,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from components.objects import Manifest
    from components.otel_collector.args import Redaction

MASK: Final = "****"
MASKED_METRIC: Final = "masked"
"""Instead of a secret in the name of a metric, which has no asterisks."""
BY_TEXT: Final = "transform/redaction"
BY_NUMBER: Final = "redaction/numbers"
ORDER: Final = (BY_TEXT, BY_NUMBER)
"""Names of the processors, in the order in which they must stand."""
_LONG_NUMBER: Final = "[0-9]{7,}"
"""In the name of a span, where it would make a series of metrics per customer, and may be a telephone number."""
_SCALARS: Final = ("IsMap", "IsList", "IsString", "IsInt", "IsDouble", "IsBool")


def processors(redaction: Redaction, identity: Iterable[str] = ()) -> Manifest:
    """The processors by name, for pipelines in the order of ORDER. identity: attributes that hold ids of workloads."""
    return {
        BY_TEXT: _by_text(redaction),
        BY_NUMBER: {
            "allow_all_keys": True,
            "redact_all_types": True,
            "summary": "silent",
            "masking_string": MASK,
            "blocked_values": [NUMBERS],
            "ignored_keys": [*identity],
            "ignored_key_patterns": [*MEASURES.values()],
        },
    }


def one_of(patterns: Iterable[str]) -> str:
    """One regular expression that matches what any of them does."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def _by_text(redaction: Redaction) -> Manifest:
    """Statements of one group are run in order for each resource, scope, span …"""
    resource = _Context("resource", redaction)
    scope = _Context("scope", redaction, ("scope.name", "scope.version"))
    span = _Context("span", redaction, ("span.name", "span.status.message", "span.trace_state"))
    event = _Context("spanevent", redaction, ("spanevent.name",))
    log = _Context("log", redaction, ("log.severity_text", "log.event_name"))
    metric = _Context("metric", redaction, ("metric.name", "metric.description", "metric.unit"))
    point = _Context("datapoint", redaction)
    resources = resource.group('set(resource.schema_url, "")')
    scopes = scope.group('set(scope.schema_url, "")')
    return {
        "error_mode": "propagate",
        "trace_statements": [
            resources,
            scopes,
            # No processor reaches the attributes of a link, so that links go as a whole.
            span.group("set(span.links, nil) where Len(span.links) > 0"),
            event.group(),
        ],
        "log_statements": [resources, scopes, log.group()],
        "metric_statements": [
            resources,
            scopes,
            metric.group("keep_keys(metric.metadata, [])"),
            point.group(),
            {"context": "exemplar", "statements": ["keep_keys(exemplar.filtered_attributes, [])"]},
        ],
    }


class _Context:
    """Statements about one kind of thing that OTLP has. fields: its text beside attributes.

    What is found out about a record is kept in its cache: an expression is long, and is read once when the collector
    starts and evaluated once per record.
    """

    def __init__(self, name: str, redaction: Redaction, fields: tuple[str, ...] = ()) -> None:
        self.name, self.fields, self.redaction = name, fields, redaction
        self.text, self.chosen = self._cached("text"), self._cached("chosen")
        self.digits, self.hit = self._is("digits"), self._is("hit")
        # A metric has no attributes, but for its metadata, which goes.
        self.maps = () if name == "metric" else (f"{name}.attributes",)
        self.body = name == "log"
        # Nobody knows the signs of what a stack added: everything is searched for it.
        self.hidden = {**VALUES, **{f"own {n}": Hidden(p, ("",)) for n, p in enumerate(redaction.values)}}

    def group(self, *more: str) -> Manifest:
        """All statements. more: run first."""
        return {
            "context": self.name,
            "statements": [*more, *self._read(), *self._look(), *self._flatten(), *self._names(), *self._patterns()],
        }

    def _cached(self, what: str) -> str:
        return f"{self.name}.cache[{literal(what)}]"

    def _is(self, what: str) -> str:
        return f"{self._cached(what)} == true"

    def _read(self) -> Iterator[str]:
        """All text of the record as one, in lower case."""
        parts = [f"String({path})" for path in self.maps] + list(self.fields)
        if self.body:
            # Bytes would go on as base64, which no expression reads.
            known = " or ".join(f"{test}(log.body)" for test in _SCALARS)
            yield f"set(log.body, {literal(MASK)}) where log.body != nil and not ({known})"
            yield f'set({self.text}, "")'
            yield f"set({self.text}, String(log.body)) where log.body != nil"
            parts.append(self.text)
        yield f"set({self.text}, ToLowerCase(Concat([{', '.join(parts)}], {literal(chr(10))})))"

    def _look(self) -> Iterator[str]:
        """Which signs are there?"""
        yield f"set({self._cached('digits')}, true) where IsMatch({self.text}, {literal(DIGITS)})"
        families = {name: hidden.signs for name, hidden in self.hidden.items() if hidden.signs}
        if self.maps:
            families |= {"credentials": CREDENTIAL_SIGNS, "contents": CONTENT_SIGNS}
        if self.redaction.keys:
            families["own keys"] = ("",)
        for name, signs in families.items():
            yield f"set({self._cached(name)}, true) where {self._signs(signs)}"
        yield f"set({self._cached('hit')}, true) where {' or '.join([self.digits, *map(self._is, families)])}"

    def _signs(self, signs: Iterable[str]) -> str:
        return " or ".join(f"Index({self.text}, {literal(sign)}) >= 0" for sign in signs)

    def _flatten(self) -> Iterator[str]:
        """What is nested is made flat, and so are lists beside a sign."""
        nested = f'{self.hit} or Index({self.text}, ":{{") >= 0 or Index({self.text}, "[{{") >= 0'
        for path in self.maps:
            yield f"flatten({path}) where {nested}"
        if self.body:
            yield f"flatten(log.body) where IsMap(log.body) and ({nested})"
            yield f"set(log.body, String(log.body)) where IsList(log.body) and ({nested})"

    def _names(self) -> Iterator[str]:
        """Mask what stands under names: of credentials whatever it is, of contents what is text."""
        families = [
            ("credentials", one_of(CREDENTIALS.values()), True),
            ("contents", one_of(CONTENTS.values()), False),
            ("own keys", one_of(self.redaction.keys), True),
        ]
        for path, condition in self._places():
            for name, pattern, everything in families:
                if not pattern:
                    continue
                where = f"{self._is(name)}{condition}"
                yield f"set({self.chosen}, {path}) where {where}"
                yield f"keep_matching_keys({self.chosen}, {literal(pattern)}) where {where}"
                if everything:
                    yield f"stringify_all({self.chosen}) where {where}"
                yield f'replace_all_patterns({self.chosen}, "value", "(?s)^.*$", {literal(MASK)}) where {where}'
                yield f'merge_maps({path}, {self.chosen}, "upsert") where {where}'

    def _places(self) -> Iterator[tuple[str, str]]:
        """Maps, and what must be so as well."""
        for path in self.maps:
            yield path, ""
        if self.body:
            yield "log.body", " and IsMap(log.body)"

    def _patterns(self) -> Iterator[str]:
        """Mask what is found in text; an attribute whose name holds it goes."""
        in_names = one_of([*(VALUES[kind].pattern for kind in IN_NAMES), *self.redaction.values, "="])
        for path, condition in self._places():
            yield f"delete_matching_keys({path}, {literal(in_names)}) where {self.hit}{condition}"
        for name, hidden in self.hidden.items():
            pattern = literal(hidden.pattern)
            sign = self._is(name) if hidden.signs else self.digits
            for path, condition in self._places():
                where = f"{sign}{condition}"
                yield f'replace_all_patterns({path}, "value", {pattern}, {literal(MASK)}) where {where}'
            for field in self.fields:
                yield self._field(field, pattern, sign)
            if self.body:
                where = f"{sign} and IsString(log.body)"
                yield f"replace_pattern(log.body, {pattern}, {literal(MASK)}) where {where}"
        if self.name == "span":
            yield self._field("span.name", literal(_LONG_NUMBER), self.digits)

    @staticmethod
    def _field(field: str, pattern: str, where: str) -> str:
        if field == "span.trace_state":
            return f'set({field}, "") where {where} and IsMatch({field}, {pattern})'
        mask = MASKED_METRIC if field == "metric.name" else MASK
        return f"replace_pattern({field}, {pattern}, {literal(mask)}) where {where}"
