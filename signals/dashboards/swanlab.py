"""SwanLab: whether its parts answer, what waits and what was lost, how its stores are, which runs hold GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.links import runbook
from signals.dashboards.model import Board, Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.room import ALL, MOUNTED, NONE, STACK, claims_free, disk, still_told
from signals.dashboards.swanlab_delivery import buffer, clickhouse
from signals.dashboards.swanlab_runs import runs
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, TEAM, chosen
from signals.rules.swanlab import INTERNAL

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_PART: Final = f"{STACK}, part"
_DAY: Final = 86_400
_UP: Final = "plumbline_swanlab_up"
_SOURCES: Final = "swanlab-gate|swanlab-vector|swanlab-clickhouse|object-store"
_CLAIMS: Final = ', namespace=~".+-swanlab"'
"""SwanLab's namespace is named after that of its stack."""


def swanlab(inputs: BoardInputs) -> Board:
    """From what people notice to what is behind it. Colours change where alerts do."""
    return Board(
        uid="plumbline-swanlab",
        title="SwanLab",
        meaning="Whether SwanLab answers, what it accepted and has not stored, how its stores are, and which runs "
        "hold GPUs.",
        rows=(
            _now(inputs),
            _answers(inputs),
            buffer(inputs),
            clickhouse(inputs),
            _requests(inputs),
            _claims(inputs),
            runs(inputs),
        ),
        variables=(CLUSTER, ENVIRONMENT, TEAM),
        needs=frozenset({"swanlab-gate"}),
    )


def _share(parts: str, *, among: bool = True) -> str:
    """Of the last five minutes, the share in which each part answered, as alerts see it. parts: as there."""
    matches = "=~" if among else "!~"
    up = chosen(_UP, f'part{matches}"{parts}"')
    return f"avg by ({_PART}) (avg_over_time({up}[5m]))"


def _now(inputs: BoardInputs) -> Row:
    heard, api = chosen("up", 'job="swanlab-gate"'), chosen(_UP, 'part="gateway-api"')
    gateway = f"max by ({STACK}) (max_over_time({api}[5m])) == 1"
    return Row(
        title="Now",
        panels=(
            stat(
                "Gates that are heard",
                still_told(f"{heard} == 1", f"last_over_time({heard}[1d])"),
                "Of those of the last day. Below one, nobody knows how some SwanLab is, and the numbers beside this "
                "are about the others alone.",
                Unit.RATIO,
                ALL,
                links=runbook(inputs, "swanlab-gate"),
            ),
            stat(
                "Parts that do not answer",
                f"sum({_share(INTERNAL, among=False)} < bool 0.5)",
                "Which: below. Without server, house, gateway, vector or a store, runs cannot begin or end, or what "
                "they log waits in their memory.",
                Unit.COUNT,
                NONE,
                links=runbook(inputs, "swanlab-part-down"),
            ),
            stat(
                "Internal routes that are open",
                f"sum(({_share(INTERNAL)} < bool 0.5)\nand on ({STACK})\n{gateway})",
                "The gateway must refuse them. Whoever reaches an open one may act for SwanLab's servers: close the "
                "gateway first. Nothing while the gateway is down.",
                Unit.COUNT,
                NONE,
                links=runbook(inputs, "swanlab-part-down"),
            ),
            *_licence(inputs),
        ),
    )


def _licence(inputs: BoardInputs) -> tuple[Panel, ...]:
    state = chosen("plumbline_swanlab_licence_state", 'state!="active"')
    left = f"min by ({STACK}) ({chosen('plumbline_swanlab_licence_days_left')})"
    links = runbook(inputs, "swanlab-licence")
    return (
        stat(
            "Licences that are not active",
            f"sum(max by ({STACK}) ({state}))",
            "Inactive, expired or unknown. Without a licence nobody can log in and no run begins.",
            Unit.COUNT,
            NONE,
            links=links,
        ),
        stat(
            "Licence ends in",
            f"min({left}) * {_DAY}",
            "The first one to end. Order the next, and enter it: what is behind the link says where.",
            Unit.SECONDS,
            Limits(warn=inputs.rules.thresholds.swanlab_licence_days_low * _DAY, bad=0.0, good=Good.HIGH),
            links=links,
            empty="the server tells when its licence ends",
        ),
    )


def _answers(inputs: BoardInputs) -> Row:
    jobs = "|".join(job for job in _SOURCES.split("|") if job in inputs.rules.jobs)
    took = chosen("plumbline_swanlab_probe_duration_seconds")
    scraped = chosen("job:up:avg", f'job=~"{jobs}"')
    links = runbook(inputs, "swanlab-part-down")
    shown = Query(expr=f"avg by (cluster, part) ({_share('.+')})", legend="{{cluster}} {{part}}", instant=True)
    return Row(
        title="Answers",
        panels=(
            Panel(
                title="Answers of each part",
                kind=Kind.BARS,
                unit=Unit.RATIO,
                meaning="Share of the gate's questions of the last five minutes; a refusal is the right answer of an "
                "internal route. Below a half the part counts as down.",
                queries=(shown,),
                limits=Limits(warn=1.0, bad=0.5, good=Good.HIGH),
                links=links,
                width=12,
                high=1,
            ),
            timeseries(
                "Answers over time",
                {"{{cluster}} {{part}}": f"avg by (cluster, part) ({_share('.+')})"},
                "Since when, and what fell first: a store before those that need it.",
                Unit.RATIO,
                ALL,
                links=links,
                high=1,
            ),
            timeseries(
                "Time of an answer",
                {"{{cluster}} {{part}}": f"max by (cluster, part) ({took})"},
                "The slower of two gates. A part that becomes slow is short of processor time, or waits for its store.",
                Unit.SECONDS,
                links=links,
                empty="the gate has asked a part",
            ),
            timeseries(
                "Sources of this board",
                {"{{cluster}} {{job}}": f"min by (cluster, job) ({scraped})"},
                "Share of targets that are scraped. Where one is missing, its panels are empty, and nothing is known.",
                Unit.RATIO,
                ALL,
                links=runbook(inputs, "scrape-target-down"),
                high=1,
            ),
        ),
    )


def _requests(inputs: BoardInputs) -> Row:
    """Media and files of runs. A request without a known key is answered 403, and is no error of the store."""
    rate = "sum by ({by}) (rate({series}[$__rate_interval]))"
    every = chosen("SeaweedFS_s3_request_total", 'job="object-store"')
    failed = chosen("SeaweedFS_s3_request_total", 'job="object-store", code=~"5.."')
    whole, bad = (f"sum by ({STACK}) (rate({series}[10m]))" for series in (every, failed))
    links = runbook(inputs, "object-store")
    return Row(
        title="Media and files",
        panels=(
            stat(
                "Object store: requests that fail",
                f"sum({bad} or 0 * {whole})\n/\n(sum({whole}) > 0)",
                "Of the last ten minutes. Pictures and files of runs are missing then, though their points are there.",
                Unit.RATIO,
                Limits(warn=inputs.rules.thresholds.object_store_errors_high),
                links=links,
                empty="the first request of that kind",
            ),
            disk(inputs.rules.thresholds, links),
            timeseries(
                "Object store: requests",
                {"{{cluster}} {{code}}": rate.format(by="cluster, code", series=every)},
                "By answer. 403 are strangers, 5xx are the store's own faults.",
                Unit.PER_SECOND,
                links=links,
                empty="the first request of that kind",
            ),
        ),
        needs=frozenset({"object-store"}),
    )


def _claims(inputs: BoardInputs) -> Row:
    free = claims_free(_CLAIMS)
    return Row(
        title="Claims",
        panels=(
            timeseries(
                "Free space of SwanLab's claims",
                {"{{cluster}} {{persistentvolumeclaim}}": f"min by (cluster, persistentvolumeclaim) ({free})"},
                "Stores and delivery buffers. A full claim stops what writes to it.",
                Unit.RATIO,
                Limits(warn=inputs.rules.thresholds.volume_free_low, good=Good.HIGH),
                links=runbook(inputs, "kubernetes-storage"),
                empty=MOUNTED,
                high=1,
            ),
        ),
        needs=frozenset({"kubelet"}),
    )
