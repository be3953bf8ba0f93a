"""The report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.boards import SAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.figures import Asked, Group, Report, Timed

_SHOWN = 8


def table(report: Report) -> str:
    """All figures, times in the units that their columns name."""
    parts = (
        _head(report),
        _loads(report),
        _groups(report),
        _panels(report),
        _rival(report),
        _board(report),
        _net(report),
    )
    return "\n".join(line for part in parts for line in part)


def _head(report: Report) -> Iterator[str]:
    boards = report.nodes * report.gpus_per_node
    one, two = report.with_rules.load, report.without_rules.load
    yield f"\n  {boards} GPUs on {report.nodes} nodes, {len(report.fields)} fields, every {report.interval} s"
    yield f"  {report.cores} cores; load average with rules {one:.1f}, without {two:.1f}, all programs included"


def _loads(report: Report) -> Iterator[str]:
    yield f"\n  {'':<34} {'with rules':>12} {'without':>12}"
    one, two = report.with_rules, report.without_rules
    rows = (
        ("rules", one.rules, two.rules, ".0f"),
        ("series in the head", one.head_series, two.head_series, ".0f"),
        ("samples per second", one.samples_per_second, two.samples_per_second, ".0f"),
        ("CPU seconds per minute", one.cpu, two.cpu, ".1f"),
        ("resident memory, MiB", one.resident_mib, two.resident_mib, ".0f"),
        ("peak memory so far, MiB", one.peak_mib, two.peak_mib, ".0f"),
    )
    for name, left, right, form in rows:
        yield f"  {name:<34} {left:>12{form}} {right:>12{form}}"
    yield f"  {'series of GPUs':<34} {report.truth.gpu_series:>12}"
    yield f"  {'scrape p99, s':<34} {report.scrapes.duration_p99:>12.3f} of {report.interval} s"
    yield f"  {'between two scrapes p99, s':<34} {report.scrapes.interval_p99:>12.3f}"


def _groups(report: Report) -> Iterator[str]:
    missed = sum(group.missed for group in report.groups)
    yield f"\n  {len(report.groups)} rule groups, {missed:.0f} evaluations missed; the slowest against their interval:"
    yield f"  {'group':<34} {'rules':>6} {'last s':>8} {'worst s':>8} {'interval':>9} {'ratio':>7} {'looks back':>11}"
    yield from (_group(group) for group in report.groups[:_SHOWN])
    yield "  (windows that look back further than the bench has run read less here than on a system with a history)"


def _group(group: Group) -> str:
    times = f"{group.last:>8.3f} {group.worst:>8.3f} {group.interval:>7.0f} s {group.ratio:>7.3f}"
    return f"  {group.name:<34} {group.rules:>6} {times} {group.reach / 60:>7.0f} min"


def _panels(report: Report) -> Iterator[str]:
    yield f"\n  {'panels, median ms':<34} {'at one moment':>31}   {'last 3 minutes':>31}"
    ways = f"{'recorded':>11} {'raw':>11} {'ratio':>7}"
    yield f"  {'':<34} {ways}   {ways} {'series':>7}"
    for panel in report.panels:
        cells = [_both(panel, lambda timed: timed.instant), _both(panel, lambda timed: timed.window)]
        yield f"  {panel.title:<34} {'   '.join(cells)} {panel.raw.series:>7}"


def _both(panel: Asked, kind: Callable[[Timed], float]) -> str:
    raw = kind(panel.raw)
    if panel.recorded is None:
        return f"{'no record':>11} {raw:>11.1f} {'':>7}"
    return f"{kind(panel.recorded):>11.1f} {raw:>11.1f} {raw / kind(panel.recorded):>7.1f}"


def _rival(report: Report) -> Iterator[str]:
    yield f"\n  {'public dashboard 12239, median ms':<34} {'at one moment':>14} {'last 3 minutes':>15} {'series':>7}"
    for panel in report.rival:
        yield f"  {panel.title:<34} {panel.raw.instant:>14.1f} {panel.raw.window:>15.1f} {panel.raw.series:>7}"
    for name, panels in (("all eight", report.rival), ("our ten, as they are asked", report.panels)):
        asked = [panel.recorded or panel.raw for panel in panels]
        instant, window = sum(timed.instant for timed in asked), sum(timed.window for timed in asked)
        yield f"  {name:<34} {instant:>14.1f} {window:>15.1f} {sum(timed.series for timed in asked):>7}"


def _board(report: Report) -> Iterator[str]:
    """Each query of our boards; beside it what the public board asks for the same, where it has it."""
    rivals, same = {panel.title: panel.raw for panel in report.rival}, dict(SAME)
    names = ("our boards, median ms", "last 3 minutes", "12239", "ratio", "series", "12239")
    yield "\n  {:<50} {:>15} {:>8} {:>7} {:>7} {:>7}".format(*names)
    for panel in report.board:
        theirs = rivals.get(same.get(panel.title, ""))
        own = panel.raw
        beside = "" if theirs is None else f"{theirs.window:>8.1f} {theirs.window / own.window:>7.1f}"
        series = "" if theirs is None else f"{theirs.series:>7}"
        yield f"  {panel.title:<50} {own.window:>15.1f} {beside:>16} {own.series:>7} {series:>7}".rstrip()
    yield "\n  {:<50} {:>15} {:>8} {:>7} {:>7}".format("whole boards", "last 3 minutes", "slowest", "queries", "empty")
    groups: dict[str, list[Timed]] = {panel.title.partition(":")[0]: [] for panel in report.board}
    for panel in report.board:
        groups[panel.title.partition(":")[0]].append(panel.raw)
    groups["12239"] = [panel.raw for panel in report.rival]
    for name, found in groups.items():
        took, empty = [one.window for one in found], sum(not one.series for one in found)
        yield f"  {name:<50} {sum(took):>15.1f} {max(took):>8.1f} {len(found):>7} {empty:>7}"


def _net(report: Report) -> Iterator[str]:
    net = report.net
    yield f"\n  all rules cost {net.all_rules:.1f} CPU seconds per minute, the recording ones {net.records:.1f} of it"
    for name, saved in (("at one moment", net.saved_instant), ("over 3 minutes", net.saved_window)):
        points = [net.pays_at(cost, saved) for cost in (net.records, net.all_rules)]
        shown = " and ".join("never" if point is None else f"{point:.1f}" for point in points)
        yield f"  a refresh of our panels {name} saves {saved:.2f} s: records pay from {shown} refreshes per minute"
    yield "  (the first if panels pay for the recording rules alone, the second if they had to pay for the alerts too)"
