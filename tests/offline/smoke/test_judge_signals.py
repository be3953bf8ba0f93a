"""Judgement over the metrics of the catalogue: as described, fresh, moving, and none lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from signals.catalogue.labels import DROPPED_LABEL, HOSTNAME_DRIFT
from signals.catalogue.model import Metric, MetricType, Producer
from smoke.judge import freshness, signals
from smoke.judge.signals import Observation, Seen
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
COUNTER = Metric(name="x_total", type=MetricType.COUNTER, unit="1", meaning="", labels=("code",), high=10)


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


HEALTHY = Observation(count=2, low=0.0, high=9.0, labelled={"code": 2}, types=frozenset({"counter"}))


def _seen(**changes: object) -> Observation:
    return replace(HEALTHY, **changes)  # type: ignore[arg-type]  # each caller names fields with their types


def test_metric_as_described_is_fine() -> None:
    assert signals.contracted(COUNTER, "j", HEALTHY) == []


METRIC_FAULTS = {
    "absent": (_seen(count=0, low=None, high=None), "no series; expected present at all times"),
    "other type": (_seen(types=frozenset({"gauge"})), "type gauge; expected type counter"),
    "no type": (_seen(types=frozenset()), "type undeclared"),
    "label missing": (_seen(labelled={"code": 0}), "no series with label code"),
    "too low": (_seen(low=-1.0), "value -1; expected a value from 0 to 10"),
    "too high": (_seen(high=11.0), "value 11; expected a value from 0 to 10"),
    "not a number": (_seen(low=float("nan"), high=float("nan")), "value nan"),
    "no value": (_seen(low=None), "no value"),
}


@pytest.mark.parametrize("kind", METRIC_FAULTS)
def test_metric_that_breaks_its_contract_is_named(kind: str) -> None:
    seen, words = METRIC_FAULTS[kind]
    assert words in _text(signals.contracted(COUNTER, "j", seen))


def test_event_metric_may_be_absent_but_not_wrong() -> None:
    event = Metric(name="e", type=MetricType.GAUGE, unit="1", meaning="", event="a fault")
    assert signals.contracted(event, "j", _seen(count=0)) == []
    assert freshness.fresh(event, "j", [], {"a"}, 30) == []
    assert "type counter; expected type gauge" in _text(signals.contracted(event, "j", HEALTHY))


def test_histogram_is_judged_by_its_own_series() -> None:
    histogram = Metric(name="h", type=MetricType.HISTOGRAM, unit="seconds", meaning="", high=1.0)
    names = [signals.series_name(histogram, label) for label in ("", "code", "le")]
    assert names == ["h_count", "h_count", "h_bucket"]
    counted = Observation(count=1, low=None, high=None, labelled={}, types=frozenset({"histogram"}))
    assert signals.contracted(histogram, "j", counted) == []


@pytest.mark.parametrize("name", ["x_total", "x"])
def test_type_of_a_counter_is_found_with_and_without_suffix(name: str) -> None:
    assert signals.declared_types({name: [{"type": "counter"}]}, COUNTER) == {"counter"}
    assert signals.declared_types({"other": [{"type": "counter"}]}, COUNTER) == frozenset()


def _fresh(*ages: Json) -> str:
    return _text(freshness.fresh(COUNTER, "j", list(ages), {"a", "b"}, 30))


def test_age_is_judged_per_active_instance() -> None:
    young = objects.series(30, instance="a")
    assert _fresh(young, objects.series(1, instance="b"), objects.series(200, instance="gone")) == ""
    old = _fresh(objects.series(1, instance="a"), objects.series(31, instance="b"))
    assert old == "x_total of job j, instance b: seen newest sample 31 s old; expected younger than 30 s"
    assert "no samples" in _fresh()
    assert "no samples" in _fresh(objects.series(1, instance="gone"))
    assert "instance a: seen newest sample nan s old" in _fresh(objects.series("NaN", instance="a"))


def test_active_instance_without_the_metric_is_named() -> None:
    text = _fresh(objects.series(1, instance="a"))
    assert text == "x_total of job j, instance b: seen no samples; expected a sample younger than 30 s"


def test_samples_from_the_future_are_named() -> None:
    assert _fresh(objects.series(-10, instance="a"), objects.series(1, instance="b")) == ""
    text = _fresh(objects.series(-11, instance="a"), objects.series(1, instance="b"))
    assert text == "x_total of job j, instance a: seen newest sample 11 s in the future; expected none from the future"


def test_event_of_the_past_is_absent_again() -> None:
    event = replace(COUNTER, event="a fault")
    assert freshness.fresh(event, "j", [objects.series(249, instance="a")], {"a"}, 30) == []
    assert freshness.fresh(event, "j", [objects.series(-60, instance="a")], {"a"}, 30)
    assert freshness.fresh(COUNTER, "j", [objects.series(249, instance="a")], {"a"}, 30)


TEMPERATURE = Metric(
    name="gpu_temp", type=MetricType.GAUGE, unit="", meaning="", labels=("UUID",), optional=("pod",), high=100
)
ENERGY = Metric(name="gpu_energy", type=MetricType.COUNTER, unit="", meaning="", labels=("UUID",), moves=True)
PAGE = Producer(
    job="gpu",
    title="GPUs",
    versions="",
    target_labels=("cluster", "node"),
    per_node=True,
    metrics=(TEMPERATURE, ENERGY),
    honor_labels=True,
    label_changes=(HOSTNAME_DRIFT,),
    identity=("UUID", "pod"),
)
BOTH = {"a": 2, "b": 2}
LIVE = Seen(
    series={"gpu_temp": BOTH, "gpu_energy": BOTH, "up": {"a": 1, "b": 1}},
    low={"gpu_temp": 30, "gpu_energy": 5},
    high={"gpu_temp": 80, "gpu_energy": 9},
    labelled={
        "UUID": {"gpu_temp": 4, "gpu_energy": 4},
        "pod": {"gpu_temp": 1},
        "node": {"gpu_temp": 4, "up": 2},
        "cluster": {"gpu_temp": 4},
    },
    kept={"a": 4, "b": 4},
    up=frozenset({"a", "b"}),
    metadata={"gpu_temp": [{"type": "gauge"}], "gpu_energy": [{"type": "counter"}]},
)


def _page(page: Producer = PAGE, **changes: object) -> str:
    return _text(signals.page(page, replace(LIVE, **changes)))  # type: ignore[arg-type]  # named with their types


def _labelled(**more: dict[str, int]) -> dict[str, dict[str, int]]:
    return LIVE.labelled | more


def test_page_as_described_is_fine() -> None:
    assert _page() == ""


def test_renamed_metric_is_named_with_what_it_may_have_become() -> None:
    series = {"gpu_temp": BOTH, "gpu_energy_total": BOTH}
    assert _page(series=series) == (
        "gpu_energy of job gpu: seen no series; gpu_energy_total is there and in no page: renamed?; "
        "expected present at all times"
    )
    assert "gpu_energy of job gpu: seen no series; expected" in _page(series={"gpu_temp": BOTH, "zzz": BOTH})


def test_stranger_on_a_complete_page_is_named_with_what_it_may_have_been() -> None:
    """What is absent by design until an event is not missed; that its new name is nobody's gives the rename away."""
    event = Metric(name="gpu_util", type=MetricType.GAUGE, unit="1", meaning="", event="e")
    page = replace(PAGE, metrics=(*PAGE.metrics, event))
    seen = replace(LIVE, series={**LIVE.series, "gpu_utilization": BOTH, "zzz": BOTH, "job:up:avg": BOTH})
    assert _text(signals.page(page, seen)) == ""
    assert _text(signals.page(page, seen, complete=True)).splitlines() == [
        "gpu_utilization of job gpu: seen in no page; gpu_util is absent: renamed?; expected only metrics of its page "
        "in the catalogue",
        "zzz of job gpu: seen in no page; expected only metrics of its page in the catalogue",
    ]


def test_renamed_label_is_named_with_what_it_may_have_become() -> None:
    labelled = {"pod": {}, "uuid": {"gpu_temp": 4, "gpu_energy": 4}}
    text = _page(labelled=labelled)
    assert "gpu_temp of job gpu: seen no series with label UUID" in text
    renamed = _page(labelled={"UUIDs": {"gpu_temp": 4, "gpu_energy": 4}}).splitlines()
    wanted = "seen no series with label UUID; label UUIDs is there and in no page: renamed?; expected label UUID"
    assert renamed == [f"gpu_temp of job gpu: {wanted}", f"gpu_energy of job gpu: {wanted}"]


def test_label_that_nobody_described_is_named() -> None:
    text = _page(labelled=_labelled(Hostname={"gpu_temp": 4}))
    assert text == (
        "gpu_temp of job gpu: seen unexpected label Hostname on 4 series; expected only labels of its page in the "
        "catalogue"
    )
    assert "unexpected label session" in _page(labelled=_labelled(session={"gpu_energy": 1}))
    assert _page(labelled=_labelled(session={"another": 1})) == ""


def test_spelling_that_should_be_one_is_named_whatever_else_is_allowed() -> None:
    loose = replace(PAGE, honor_labels=False)
    assert _page(loose, labelled=_labelled(session={"gpu_temp": 1})) == ""
    assert "unexpected label hostname on 4" in _page(loose, labelled=_labelled(hostname={"gpu_temp": 4}))


def test_empty_page_of_one_of_several_targets_is_named_by_target() -> None:
    series = {"gpu_temp": {"a": 2}, "gpu_energy": {"a": 2}}
    text = _page(series=series, kept={"a": 4, "b": 0})
    assert text == (
        "target b of job gpu: seen up, and no series of the catalogue on its page; expected the 2 metrics of the "
        "catalogue"
    )


def test_one_of_several_targets_without_a_metric_is_named() -> None:
    text = _page(series={"gpu_temp": BOTH, "gpu_energy": {"a": 2}}, kept={"a": 4, "b": 2})
    assert text == "gpu_energy of job gpu, instance b: seen no series; expected present at all times"


def test_other_type_of_one_target_is_named() -> None:
    both = [{"type": "counter"}, {"type": "gauge"}]
    assert "type counter, gauge; expected type counter" in _page(metadata=LIVE.metadata | {"gpu_energy": both})
    unknown = [{"type": "counter"}, {"type": "unknown"}]
    assert _page(metadata=LIVE.metadata | {"gpu_energy": unknown}) == ""


def test_metric_that_declares_no_type_is_fine_if_its_page_says_so() -> None:
    untyped = replace(ENERGY, type=MetricType.UNKNOWN)
    seen = LIVE.metadata | {"gpu_energy": [{"type": "unknown"}]}
    page = replace(PAGE, metrics=(TEMPERATURE, untyped))
    assert _page(page, metadata=seen) == ""
    assert _page(page, metadata={name: types for name, types in seen.items() if name != "gpu_energy"}) == ""
    assert "type counter; expected type unknown" in _page(page)
    assert "type undeclared; expected type counter" in _page(metadata=seen)


def test_series_that_relabelling_made_one_are_counted() -> None:
    text = _page(kept={"a": 5, "b": 4})
    assert text.startswith("target a of job gpu: seen 4 series stored of 5 samples kept: 1 have the labels of others")
    assert _page(replace(PAGE, own_timestamps=True), kept={"a": 5}) == ""
    assert _page(replace(PAGE, identity=()), kept={"a": 5}) == ""
    assert _page(kept={"a": 3, "b": 4}) == ""


def test_refused_samples_are_counted() -> None:
    assert signals.duplicates([objects.series(0)]) == []
    assert signals.duplicates([]) == []
    assert "3 samples refused in 2m" in _text(signals.duplicates([objects.series(2), objects.series(1)]))


def test_banned_label_is_named_whether_it_was_taken_off_or_not() -> None:
    assert signals.banned([], []) == []
    marked = [objects.series(2, __name__="m", job="j", **{DROPPED_LABEL: "user_id"})]
    assert _text(signals.banned(marked, [])) == (
        "m of job j: seen 2 series came with banned label user_id; expected no such label at its source"
    )
    kept = [objects.series(1, __name__="m", job="j", label="email")]
    assert "1 series carry banned label email" in _text(signals.banned([], kept))


def _moving(changes: float, samples: float) -> str:
    one = [objects.series(changes, UUID="GPU-1", instance="a")]
    return _text(freshness.moving(ENERGY, "gpu", one, [objects.series(samples, UUID="GPU-1", instance="a")], 3))


def test_frozen_value_is_named_with_its_object() -> None:
    assert _moving(1, 4) == ""
    assert _moving(0, 4) == (
        "gpu_energy of job gpu, UUID=GPU-1, instance=a: seen 4 samples, all of one value; "
        "expected a value that moves: it is measured"
    )
    assert "only 2 samples yet" in _moving(0, 2)


def test_window_for_movement_follows_the_scrape_interval() -> None:
    assert freshness.window(15) == 60
    assert freshness.window(60) == 240
