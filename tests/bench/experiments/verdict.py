"""What makes the figures worthless. Times are never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.experiments.figures import Report, Stored

FEWEST: Final = 5
"""Samples below which a percentile says nothing."""


def problems(report: Report) -> list[str]:
    """One line for each reason; empty when the figures stand for something."""
    return [*_stored(report.sdk), *_stored(report.raw), *_inserted(report), *_samples(report), *_media(report)] + [
        f"left behind: {what}" for what in report.left
    ]


def _stored(way: Stored) -> Iterator[str]:
    if not way.acknowledged:
        yield f"{way.name}: no point was acknowledged"
    if way.rows != way.acknowledged:
        yield f"{way.name}: {way.acknowledged} points were acknowledged and {way.rows} are read back"
    if way.intact != way.acknowledged:
        yield f"{way.name}: {way.intact} of {way.acknowledged} acknowledged points are read back with their value"


def _inserted(report: Report) -> Iterator[str]:
    found, wanted = report.inserted, report.inserted.one.count + report.inserted.many.count
    if not found.one.count or not found.many.count:
        yield "nothing was inserted into ClickHouse directly"
    if found.rows != wanted:
        yield f"{wanted} rows were inserted into ClickHouse directly and {found.rows} are there"


def _samples(report: Report) -> Iterator[str]:
    asked = (("CSV export", report.export), ("summaries", report.summaries), ("media GET", report.media.latency))
    for name, both in asked:
        fewest = min(len(both.ours.samples), len(both.store.samples))
        if fewest < FEWEST:
            yield f"{name}: {fewest} samples, fewer than {FEWEST}, were had in the time for them"


def _media(report: Report) -> Iterator[str]:
    for name, rates in (("PUT", report.media.put), ("GET", report.media.get)):
        for whose, rate in zip(("through SwanLab", "of the store"), rates, strict=True):
            if rate.count != report.media.objects:
                yield f"media {name} {whose}: {rate.count} of {report.media.objects} objects"
    if report.media.wrong:
        yield f"{report.media.wrong} media objects came back with other bytes"
