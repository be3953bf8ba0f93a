"""Boards as Grafana's JSON, by Grafana's own builders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from grafana_foundation_sdk.builders import bargauge, common, dashboard, logs, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import prometheus as prometheus_models

from signals.dashboards.model import PROMETHEUS, WIDTH, Good, Kind

if TYPE_CHECKING:
    from signals.dashboards.model import Annotation, Board, Limits, Link, Panel, Query, Variable

TAG: Final = "plumbline"
"""Of every board: they are each other's links by it."""
_TYPES: Final = {PROMETHEUS: "prometheus"}
_PANELS: Final[dict[Kind, Any]] = {
    Kind.STAT: stat.Panel,
    Kind.TIMESERIES: timeseries.Panel,
    Kind.TABLE: table.Panel,
    Kind.BARS: bargauge.Panel,
    Kind.LOGS: logs.Panel,
}
_NOTHING: Final = "nothing to show"
_GREY: Final = "#808080"
_OF_A_FIELD: Final = "${__field.labels."
_OF_A_TABLE: Final = "${__data.fields."


def board_json(board: Board) -> str:
    """The text of the file that Grafana is provisioned with. The same board always gives the same bytes."""
    return json.dumps(_board(board).build(), cls=JSONEncoder, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _board(board: Board) -> dashboard.Dashboard:
    made = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.meaning)
        .tags([TAG])
        .readonly()
        .timezone("browser")
        .time("now-6h", "now")
        .refresh("1m")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(_others())
    )
    for variable in board.variables:
        made = made.with_variable(_variable(variable))
    for annotation in board.annotations:
        made = made.annotation(_MarksBuilder(annotation))
    number = 0
    for row, panels, y in _placed(board):
        number += 1
        made = made.with_row(dashboard.Row(row).id(number).grid_pos(models.GridPos(h=1, w=WIDTH, x=0, y=y)))
        for panel, place in panels:
            number += 1
            made = made.with_panel(_panel(panel, number).grid_pos(place))
    return made


def _placed(board: Board) -> list[tuple[str, list[tuple[Panel, models.GridPos]], int]]:
    """Rows with their panels, each at its place: from left to right, and beneath where there is no room."""
    found, y = [], 0
    for row in board.rows:
        placed, x, top, lowest = [], 0, y + 1, y + 1
        for panel in row.panels:
            if x + panel.width > WIDTH:
                x, top = 0, lowest
            placed.append((panel, models.GridPos(h=panel.height, w=panel.width, x=x, y=top)))
            x, lowest = x + panel.width, max(lowest, top + panel.height)
        found.append((row.title, placed, y))
        y = lowest
    return found


def _others() -> dashboard.DashboardLink:
    """All boards, with the time and the choices of this one."""
    link = dashboard.DashboardLink("Plumbline").type(models.DashboardLinkType.DASHBOARDS).tags([TAG])
    return link.as_dropdown(as_dropdown=True).include_vars(include_vars=True).keep_time(keep_time=True)


def _source(uid: str) -> models.DataSourceRef:
    return models.DataSourceRef(type_val=_TYPES[uid], uid=uid)


def _variable(variable: Variable) -> dashboard.QueryVariable:
    """Any number of values. All of them are `.*`, and so also whatever has no such label."""
    made = dashboard.QueryVariable(variable.name).label(variable.label).datasource(_source(PROMETHEUS))
    made = made.query(f"label_values({variable.series}, {variable.name})").refresh(
        models.VariableRefresh.ON_TIME_RANGE_CHANGED
    )
    made = made.sort(models.VariableSort.ALPHABETICAL_ASC).multi(multi=True)
    if not variable.all_at_once:
        return made
    made = made.include_all(include_all=True).all_value(".*")
    return made.current(models.VariableOption(selected=True, text="All", value="$__all"))


class _Marks(models.AnnotationQuery):
    """An annotation of Prometheus: the SDK has no words for the text of its marks."""

    text = ""

    def to_json(self) -> dict[str, object]:
        """As Grafana reads it."""
        return {**super().to_json(), "titleFormat": self.name, "textFormat": self.text, "step": "60s"}


class _MarksBuilder(dashboard.AnnotationQuery):
    def __init__(self, mark: Annotation) -> None:
        super().__init__()
        self._internal = made = _Marks(
            name=mark.title, datasource=_source(PROMETHEUS), icon_color=mark.colour, expr=mark.expr
        )
        made.text = mark.text


def _panel(panel: Panel, number: int) -> Any:  # noqa: ANN401  # the builders of panels have no common type
    made = _PANELS[panel.kind]().id(number).title(panel.title).description(panel.meaning).unit(panel.unit.value)
    made = made.datasource(_source(panel.queries[0].datasource)).no_value(panel.nothing or _NOTHING)
    for place, query in enumerate(panel.queries):
        made = made.with_target(_target(query, chr(ord("A") + place), panel.kind))
    if panel.limits is not None:
        made = made.thresholds(_thresholds(panel.limits))
    if panel.limits is not None and panel.kind in (Kind.STAT, Kind.BARS):
        made = made.mappings([_absent(panel)])
    if panel.decimals is not None:
        made = made.decimals(panel.decimals)
    made = made.min(0) if panel.kind is not Kind.TABLE else made
    if panel.high is not None:
        made = made.max(panel.high)
    if panel.links:
        made = made.data_links([_link(link, panel.kind) for link in panel.links])
    return _drawn(made, panel)


def _drawn(made: Any, panel: Panel) -> Any:  # noqa: ANN401  # as above
    """What each kind has of its own."""
    if panel.kind is Kind.STAT:
        made = made.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        # Without limits a number is neither good nor bad; Grafana's own would have it red from 80.
        colours = common_models.BigValueColorMode
        made = made.color_mode(colours.NONE if panel.limits is None else colours.BACKGROUND)
    if panel.kind is Kind.TABLE:
        without_time = models.DataTransformerConfig(id_val="organize", options={"excludeByName": {"Time": True}})
        made = made.transformations([without_time])
    if panel.kind is Kind.BARS and panel.limits is None:
        made = made.thresholds(_steps([None], ["blue"]))
    if panel.kind is Kind.TIMESERIES:
        # A gap is drawn as one: a line across it would tell of what nobody measured.
        made = made.span_nulls(span_nulls=False).fill_opacity(8).show_points(common_models.VisibilityMode.AUTO)
        legend = common.VizLegendOptions().display_mode(common_models.LegendDisplayMode.LIST)
        made = made.legend(legend.placement(common_models.LegendPlacement.BOTTOM).show_legend(show_legend=True))
        if panel.limits is not None:
            style = common.GraphThresholdsStyleConfig().mode(common_models.GraphThresholdsStyleMode.DASHED)
            made = made.thresholds_style(style)
    return made


def _absent(panel: Panel) -> models.SpecialValueMap:
    """What is not there is grey: Grafana gives it the colour of the lowest values, which may be a good one."""
    shown = models.ValueMappingResult(text=panel.nothing or _NOTHING, color=_GREY)
    options = models.DashboardSpecialValueMapOptions(match=models.SpecialValueMatch.NULL_AND_NAN, result=shown)
    return models.SpecialValueMap(options=options)


def _target(query: Query, ref: str, kind: Kind) -> prometheus.Dataquery:
    """Of a table all series are rows of one answer; else each would be a table of its own, and one be shown."""
    made = prometheus.Dataquery().expr(query.expr).legend_format(query.legend).ref_id(ref)
    made = made.datasource(_source(query.datasource))
    if kind is Kind.TABLE:
        made = made.format(prometheus_models.PromQueryFormat.TABLE)
    return made.instant() if query.instant else made.range()


def _thresholds(limits: Limits) -> dashboard.ThresholdsConfig:
    """Steps from below. A value that is good when high turns the colours around."""
    colours = ["green", "orange", "red"] if limits.bad is not None else ["green", "orange"]
    values = [limits.warn] if limits.bad is None else [limits.warn, limits.bad]
    if limits.bad == limits.warn:
        colours, values = ["green", "red"], [limits.warn]
    if limits.good is Good.HIGH:
        colours, values = colours[::-1], values[::-1]
    return _steps([None, *values], colours)


def _steps(values: list[float | None], colours: list[str]) -> dashboard.ThresholdsConfig:
    steps = [models.Threshold(value=value, color=colour) for value, colour in zip(values, colours, strict=True)]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


def _link(link: Link, kind: Kind) -> dashboard.DashboardLink:
    """In a table labels are columns, and called so."""
    url = link.url.replace(_OF_A_FIELD, _OF_A_TABLE) if kind is Kind.TABLE else link.url
    return dashboard.DashboardLink(link.title).url(url).target_blank(target_blank=True)
