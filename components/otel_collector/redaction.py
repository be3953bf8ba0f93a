"""Redaction of all three signals: two processors in a row, of which neither alone sees every field.

`transform/redaction` looks for signs of what is hidden in the text of a whole record, and where there is one, makes
lists flat, masks by name, and masks by pattern wherever text stands. It takes off what it cannot clean: links, filtered
attributes of exemplars, metadata, schema addresses. `redaction/numbers` masks numbers that are whole values. It fails
closed: a statement that fails has its batch refused, and senders keep it.

Attributes whose value is bytes are not searched, since neither processor can tell them from text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from components.otel_collector import signs
from components.otel_collector.keys import ASSIGNED, CONTENTS, CREDENTIALS, IDS, KEPT, MEASURES
from components.otel_collector.own_signs import OWN, WIDE
from components.otel_collector.parts import literal
from components.otel_collector.patterns import IN_NAMES, SPARED, UNDER_IDS, VALUES, Hidden
from components.otel_collector.record_text import CLOSED, MASK, NO_JSON, Record
from components.otel_collector.text_numbers import CARDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from components.objects import Manifest
    from components.otel_collector.args import Redaction

MASKED_METRIC: Final = "masked"
"""Instead of a secret in the name of a metric, which has no asterisks."""
BY_TEXT: Final = "transform/redaction"
BY_NUMBER: Final = "redaction/numbers"
ORDER: Final = (BY_TEXT, BY_NUMBER)
"""Names of the processors, in the order in which they must stand."""
_LONG_NUMBER: Final = "[0-9]{7,}"
"""In the name of a span, where it would make a series of metrics per customer, and may be a telephone number."""
_ODD: Final = (r'\x01"', r'\x02"')
"""In text, around a name or value that has a separator in it, which signs do not expect."""
_PARTED: Final = "\x04"
"""Put into what is spared, so that no expression finds it."""
_FIELD: Final = "\x03"
_LONG_S: Final = r'"\\x{17f}", "s"'
"""The one letter that expressions take for one of ASCII, and that is its own lower case."""


def one_of(patterns: Iterable[str]) -> str:
    """One regular expression that matches what any of them does."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def processors(redaction: Redaction, identity: Iterable[str] = ()) -> Manifest:
    """The processors by name, for pipelines in the order of ORDER. identity: attributes that hold ids of workloads."""
    return {
        BY_TEXT: _by_text(redaction),
        BY_NUMBER: {
            "allow_all_keys": True,
            "redact_all_types": True,
            "summary": "silent",
            "masking_string": MASK,
            "blocked_values": [CARDS],
            "ignored_keys": [*identity],
            "ignored_key_patterns": [*MEASURES.values()],
        },
    }


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


class _Context(Record):
    """Statements that clean it.

    The few records that have a sign are cleaned in a copy of their attributes, to which the fields are added under
    names that no sender writes.
    """

    def group(self, *more: str) -> Manifest:
        """All statements. more: run first."""
        steps = (self._read(), self._look(), self._copy(), self._names(), self._values(), self._put_back())
        return {"context": self.name, "statements": [*more, *(statement for step in steps for statement in step)]}

    def _look(self) -> Iterator[str]:
        """Which families of signs are there? What a stack added has none: everything is searched for it."""
        yield f"replace_pattern({self.text}, {_LONG_S})"
        yield f"set({self._cached('odd')}, true) where {self._has_any(_ODD)}"
        for found, family in self.families.items():
            yield f"set({self._cached(family)}, true) where {self._is('odd')} or {self._has_any(found)}"
        if self.fine:
            yield from self._look_closer(self.families[signs.CONTENTS])
        own = ["true"] if self.redaction.keys or self.redaction.values else []
        yield f"set({self._cached('hit')}, true) where {' or '.join([*map(self._is, self.families.values()), *own])}"

    def _look_closer(self, family: str) -> Iterator[str]:
        """Names of contents are also those of counts: only what is text has to go."""
        parts = [self.attributes, *self.fields, *(["log.body"] if self.body else [])]
        where = f"{self._is(family)} and not ({self._is('odd')} or {self._has(NO_JSON)})"
        yield f"set({self.typed}, ToLowerCase(Concat([{', '.join(parts)}], {CLOSED}))) where {where}"
        yield f"replace_pattern({self.typed}, {_LONG_S}) where {self.typed} != nil"
        none = f"not ({self._has_any(signs.contents(signs.TYPED), self.typed)})"
        yield from self._look_for_twins(where)
        clear = f"{self.typed} != nil and not ({self._is('twins')}) and {none}"
        yield f"set({self._cached(family)}, false) where {clear}"

    def _look_for_twins(self, where: str) -> Iterator[str]:
        """Two attributes of one name: as JSON the last alone is shown."""
        unique = self._cached("unique")
        for path, condition in self._maps():
            yield f"set({unique}, {{}}) where {where}{condition}"
            yield f'merge_maps({unique}, {path}, "upsert") where {where}{condition}'
            twins = f"{where}{condition} and Len({unique}) != Len({path})"
            yield f"set({self._cached('twins')}, true) where {twins}"

    def _copy(self) -> Iterator[str]:
        """What is searched, with its lists made flat."""
        yield f"set({self.all}, {self.attributes or '{}'}) where {self.hit}"
        for path, condition in self._maps(self.all):
            yield f"flatten({path}, resolveConflicts=true) where {self.hit} and {self._is('lists')}{condition}"
            yield from self._flattened(path, f"{self.hit} and not ({self._is('lists')}){condition}")
        if self.body:
            nested = f"({self.hit} or {self._is('nested')})"
            yield f"set(log.body, log.body.string) where IsList(log.body) and {nested}"

    def _names(self) -> Iterator[str]:
        """Mask what stands under names: of credentials whatever it is, of contents what is text.

        An attribute whose name holds what is hidden goes.
        """
        families = [
            (self._is(self.families[signs.SECRETS]), one_of(CREDENTIALS.values()), True),
            (self._is(self.families[signs.CONTENTS]), one_of(CONTENTS.values()), False),
            (self.hit, one_of(self.redaction.keys), True),
        ]
        for path, condition in self._maps(self.all):
            for sign, pattern, everything in families:
                if not pattern:
                    continue
                where = f"{sign}{condition}"
                yield f"set({self.chosen}, {path}) where {where}"
                yield f"keep_matching_keys({self.chosen}, {literal(pattern)}) where {where}"
                if sign != self.hit:
                    yield f"delete_matching_keys({self.chosen}, {literal(KEPT)}) where {where}"
                if everything:
                    yield f"stringify_all({self.chosen}) where {where}"
                yield f'replace_all_patterns({self.chosen}, "value", "(?s)^.*$", {literal(MASK)}) where {where}'
                yield f'merge_maps({path}, {self.chosen}, "upsert") where {where}'
        in_names = one_of([*(VALUES[kind].pattern for kind in IN_NAMES), *self.redaction.values])
        named = [
            self._is(name) for found, name in self.families.items() if found not in (signs.SECRETS, signs.CONTENTS)
        ]
        where = self.hit if self.redaction.values else f"({' or '.join(named)})"
        for path, condition in self._maps(self.all):
            yield f"delete_matching_keys({path}, {literal(in_names)}) where {where}{condition}"
            assigned = f"{self._has(signs.ASSIGNED_IN_NAME)}{condition}"
            yield f"delete_matching_keys({path}, {literal(ASSIGNED)}) where {assigned}"

    def _values(self) -> Iterator[str]:
        """Mask what is found in text."""
        for field, condition in self._texts():
            yield f"set({self._beside(field)}, {field}) where {self.hit}{condition}"
        for kind, spared in SPARED.items():
            for pattern, where in self._searches(kind, spared):
                yield from self._replace(pattern, f"$1{_PARTED}$2", where)
        for kind, one in VALUES.items():
            for pattern, where in self._searches(kind, one):
                cleaned = self._replace(pattern, f"$1{MASK}" if one.keeps else MASK, where)
                yield from self._but_ids(cleaned, where) if kind in UNDER_IDS else cleaned
        yield from self._replace(_PARTED, "", self.hit)
        for own in self.redaction.values:
            yield from self._replace(own, MASK, self.hit)

    def _searches(self, kind: str, one: Hidden) -> Iterator[tuple[str, str]]:
        """Patterns, of which at most one is searched, and where.

        What stands beside many records at once is short: it is searched for all that its family has.
        """
        family, own, odd = self._is(self.families[one.signs]), OWN.get(kind, ()), self._is("odd")
        if not (self.fine and own):
            yield one.pattern, family
        elif not one.narrow:
            yield one.pattern, f"{family} and ({odd} or {self._has_any(own)})"
        else:
            wide = f"({odd} or {self._has_any(WIDE[kind])})"
            yield one.narrow, f"{family} and ({self._has_any(own)}) and not {wide}"
            yield one.pattern, f"{family} and {wide}"

    def _replace(self, pattern: str, instead: str, sign: str) -> Iterator[str]:
        for path, condition in (*self._maps(self.all), *(() if self.attributes else ((self.all, ""),))):
            what = f"{literal(pattern)}, {literal(instead)}".replace(_PARTED, r"\u0004")
            yield f'replace_all_patterns({path}, "value", {what}) where {sign}{condition}'

    def _ids(self) -> Iterator[tuple[str, str, str]]:
        """Maps, where their ids are kept meanwhile, and what must be so as well."""
        for number, (path, condition) in enumerate(self._maps(self.all)):
            yield path, self._cached(f"ids{number}"), condition

    def _but_ids(self, cleaned: Iterable[str], where: str) -> Iterator[str]:
        for path, kept, condition in self._ids():
            yield f"set({kept}, {path}) where {where}{condition}"
            yield f"keep_matching_keys({kept}, {literal(IDS)}) where {where}{condition}"
        yield from cleaned
        for path, kept, condition in self._ids():
            yield f'merge_maps({path}, {kept}, "upsert") where {where}{condition}'

    def _put_back(self) -> Iterator[str]:
        for field, condition in self._texts():
            beside, where = self._beside(field), f"{self.hit}{condition}"
            if field == "span.trace_state":
                yield f'set({field}, "") where {where} and {beside} != {field}'
            else:
                yield f"set({field}, {beside}) where {where}"
            yield f"delete_key({self.all}, {_name_of(field)}) where {where}"
        if self.name == "metric":
            yield f"replace_pattern(metric.name, {literal(re.escape(MASK))}, {literal(MASKED_METRIC)}) where {self.hit}"
        if self.attributes:
            yield f"set({self.attributes}, {self.all}) where {self.hit}"
        if self.name == "span":
            yield f"replace_pattern(span.name, {literal(_LONG_NUMBER)}, {literal(MASK)})"

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Fields, and what must be so as well."""
        yield from ((field, "") for field in self.fields)
        if self.body:
            yield "log.body", " and IsString(log.body)"

    def _beside(self, field: str) -> str:
        return f"{self.all}[{_name_of(field)}]"


def _name_of(field: str) -> str:
    """Literal of the name under which a field stands beside attributes: no sender begins one so."""
    return literal(f"{_FIELD}{field}").replace(_FIELD, r"\u0003")
