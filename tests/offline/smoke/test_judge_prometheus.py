"""Judgement over Prometheus' own account: configuration, rules, storage, survival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smoke.access.exposition import parse, values
from smoke.judge import prometheus, rules, storage, survival
from smoke.judge.units import timestamp
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
RELOAD = prometheus.RELOAD
NOW = timestamp("2026-01-01T00:01:00Z")
PAGE = """# HELP prometheus_config_last_reload_successful Whether the last reload was successful.
# TYPE prometheus_config_last_reload_successful gauge
prometheus_config_last_reload_successful 1
prometheus_tsdb_wal_corruptions_total 0
prometheus_tsdb_head_samples_appended_total{type="float"} 1.2e+06
prometheus_tsdb_head_samples_appended_total{type="histogram"} 5
prometheus_sd_refresh{config="a \\"quoted\\", one",x="}"} NaN 1767225600000
"""


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def test_exposition_is_read() -> None:
    samples = parse(PAGE)
    assert values(samples, storage.APPENDED) == [1.2e6, 5]
    assert samples[-1].labels == {"config": 'a \\"quoted\\", one', "x": "}"}


def test_page_that_is_no_exposition_is_refused() -> None:
    with pytest.raises(ValueError, match="not a line"):
        parse("<html>")


def test_successful_reload_is_fine() -> None:
    assert prometheus.reload_succeeded(parse(PAGE), [objects.series(1)]) == []


def test_reload_must_succeed_by_both_ways() -> None:
    assert "by query: seen 0; expected 1" in _text(prometheus.reload_succeeded(parse(PAGE), [objects.series(0)]))
    assert "by query: seen no such series" in _text(prometheus.reload_succeeded(parse(PAGE), []))
    failed = parse(f"{RELOAD} 0\n")
    assert "on /metrics: seen 0; expected 1" in _text(prometheus.reload_succeeded(failed, [objects.series(1)]))
    assert "on /metrics: seen no such series" in _text(prometheus.reload_succeeded([], [objects.series(1)]))


REVISIONS: list[tuple[list[Json], str]] = [
    ([], "no series"),
    ([objects.series(1, revision="old")], "seen revision old; expected revision new"),
    ([objects.series(1, revision="new"), objects.series(1, revision="old")], "2 series; expected one series"),
    ([objects.series(1, revision="new", cluster="b")], "no series"),
]


@pytest.mark.parametrize("labels", [{}, {"cluster": "a"}])
def test_contracted_revision_is_fine(labels: dict[str, str]) -> None:
    assert prometheus.revision([objects.series(1, revision="new", **labels)], "a", "new") == []


def test_other_clusters_may_have_other_revisions() -> None:
    both = [objects.series(1, revision="new", cluster="a"), objects.series(1, revision="old", cluster="b")]
    assert prometheus.revision(both, "a", "new") == []


@pytest.mark.parametrize(("series", "words"), REVISIONS)
def test_other_revision_is_named(series: list[Json], words: str) -> None:
    assert words in _text(prometheus.revision(series, "a", "new"))


@pytest.mark.parametrize(("seen", "expected"), [("1d", "24h"), ("8GiB", "8GB"), ("false", "false"), ("512MB", "0.5GB")])
def test_equal_flags_are_fine(seen: str, expected: str) -> None:
    assert prometheus.flags({"a.b": seen}, {"--a.b": expected}) == []


def test_other_or_missing_flag_is_named() -> None:
    assert _text(prometheus.flags({"a": "2d"}, {"a": "1d"})) == "flag a: seen 2d; expected 1d"
    assert _text(prometheus.flags({}, {"a": "1d"})) == "flag a: seen not set; expected 1d"


def test_evaluated_sentinel_is_fine() -> None:
    assert rules.sentinel([objects.group("g", objects.rule("s"))], "s", NOW - 3600) == []


def test_absent_unhealthy_or_unevaluated_sentinel_is_named() -> None:
    assert "not loaded" in _text(rules.sentinel([objects.group("g", objects.rule("other"))], "s", 0))
    broken = objects.rule("s") | {"health": "err", "lastError": "many-to-many"}
    assert "health err: many-to-many" in _text(rules.sentinel([objects.group("g", broken)], "s", 0))
    never = objects.rule("s", "0001-01-01T00:00:00Z")
    assert "not evaluated since the start" in _text(rules.sentinel([objects.group("g", never)], "s", NOW))


def test_sentinel_shows_the_contracted_revision() -> None:
    shown = [objects.group("g", objects.rule("s", revision="new"))]
    assert rules.sentinel(shown, "s", 0, "new") == []
    assert "revision new; expected revision other" in _text(rules.sentinel(shown, "s", 0, "other"))
    assert "revision None; expected" in _text(rules.sentinel([objects.group("g", objects.rule("s"))], "s", 0, "new"))


def test_healthy_rules_are_fine() -> None:
    assert _healthy([objects.group("g", objects.rule("a", "2026-01-01T00:00:50Z"))]) == ""


def _healthy(groups: list[Json], own: str = "g", *, foreign: bool = False) -> str:
    return _text(rules.healthy(groups, frozenset({own}), NOW, foreign=foreign))


RULE_FAULTS: list[tuple[list[Json], str]] = [
    ([], "no rule group"),
    ([objects.group("g")], "rule group g: seen no rules"),
    ([objects.group("g", objects.rule("a") | {"health": "err", "lastError": "x"})], "health err: x"),
    ([objects.group("g", objects.rule("a") | {"health": "unknown"})], "health unknown"),
    ([objects.group("g", objects.rule("a"))], "last evaluated 60 s ago; expected at most 38 s ago"),
]


@pytest.mark.parametrize(("groups", "words"), RULE_FAULTS)
def test_rule_that_cannot_fire_is_named(groups: list[Json], words: str) -> None:
    assert words in _healthy(groups)


def test_group_of_ours_that_is_missing_is_named_and_another_is_judged_by_its_owner() -> None:
    broken = [objects.group("theirs", objects.rule("a") | {"health": "err", "lastError": "x"})]
    assert _healthy(broken, "ours", foreign=True) == "rule group ours: seen not loaded; expected loaded"
    assert "theirs rule a: seen health err: x" in _healthy(broken, "ours")


def test_failed_evaluations_must_not_grow() -> None:
    def flat(value: float, *, foreign: bool = False) -> str:
        failed = [objects.series(value, rule_group="/etc/rules/x.yml;g")]
        return _text(rules.failures_flat(failed, frozenset({"ours"}), foreign=foreign))

    assert flat(0) == ""
    assert "rule group /etc/rules/x.yml;g: seen 2 failed" in flat(2)
    assert flat(2, foreign=True) == ""
    ours = [objects.series(1, rule_group="/etc/rules/ns-name-uid.yaml;ours")]
    assert rules.failures_flat(ours, frozenset({"ours"}), foreign=True)


def _ages(age: float | str = 1.0) -> list[Json]:
    labels = [target["labels"] for target in objects.targets()["activeTargets"]]
    return [objects.series(age, job=found["job"], instance=found["instance"]) for found in labels]


def test_fresh_storage_is_fine() -> None:
    assert storage.scrape_intervals(objects.targets()) == dict.fromkeys(objects.JOBS, 15.0)
    assert storage.lookback(objects.targets()) == 30
    assert storage.up_is_fresh(_ages(29.9), objects.targets()) == []
    assert storage.log_is_sound(parse(PAGE)) == []
    assert storage.advancing(parse(f"{storage.APPENDED} 5\n"), parse(PAGE)) == []


def test_old_samples_are_named() -> None:
    old = _text(storage.up_is_fresh(_ages(30), objects.targets()))
    assert "up of job kubelet, instance 10.88.0.1:10250: seen newest sample 30 s old" in old
    assert storage.up_is_fresh(_ages("NaN"), objects.targets())
    assert "seen no sample" in _text(storage.up_is_fresh([], objects.targets()))
    assert "no active target" in _text(storage.up_is_fresh(_ages(), {}))


def test_series_of_a_target_that_has_left_is_nobodys_fault() -> None:
    gone = objects.series(286, job="prometheus", instance="10.88.0.3:9090")
    assert storage.up_is_fresh([*_ages(), gone], objects.targets()) == []


def test_corrupt_log_and_stopped_ingestion_are_named() -> None:
    corrupt = storage.log_is_sound(parse(f"{storage.CORRUPTIONS} 1\n"))
    assert (corrupt[0].seen, corrupt[0].terminal) == ("1", True)
    assert "no such series" in _text(storage.log_is_sound([]))
    assert "as before" in _text(storage.advancing(parse(PAGE), parse(PAGE)))
    assert storage.advancing([], [])


def _matrix(*samples: tuple[float, str], job: str = "a") -> Json:
    return {"metric": {"__name__": "up", "job": job}, "values": [list(sample) for sample in samples]}


def test_same_samples_are_fine() -> None:
    before = [_matrix((1.0, "1"), (2.0, "0"))]
    after = [_matrix((1.0, "1"), (2.0, "0"), (3.0, "1")), _matrix((1.0, "1"), job="new")]
    assert survival.same_samples(before, after) == []


@pytest.mark.parametrize("after", [[], [_matrix((1.0, "1"))], [_matrix((1.0, "1"), (2.0, "1"))]])
def test_lost_or_changed_sample_is_counted(after: list[Json]) -> None:
    text = _text(survival.same_samples([_matrix((1.0, "1"), (2.0, "0"))], after))
    assert "of 2 samples lost or changed; expected all 2 samples" in text


def test_too_few_samples_prove_no_survival() -> None:
    assert survival.enough([_matrix((1.0, "1"), (2.0, "1"))]) == []
    assert survival.enough([_matrix((1.0, "1"))])
    assert survival.enough([])


def test_replacement_is_another_ready_pod() -> None:
    assert survival.replaced(objects.pod(), "old", "p") == []
    assert "still the old pod" in _text(survival.replaced(objects.pod(), objects.POD_UID, "p"))
    assert "does not exist" in _text(survival.replaced(None, "old", "p"))
    unready = objects.pod()
    unready["status"]["conditions"] = []
    assert "new, not Ready" in _text(survival.replaced(unready, "old", "p"))


def test_other_claim_is_not_the_same_claim() -> None:
    assert survival.same_object("claim", objects.claim(), objects.claim()) == []
    assert "uid volume-uid; expected uid claim-uid" in _text(
        survival.same_object("claim", objects.claim(), objects.volume())
    )
    assert "uid missing" in _text(survival.same_object("claim", objects.claim(), None))
