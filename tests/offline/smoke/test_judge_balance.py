"""Judges of counting: sampled shares and the accounts of collectors and stores; each is seen to fail."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import Any

import pytest

from smoke.access.exposition import Sample
from smoke.judge import balance, sampling
from smoke.judge.balance import LOGS, Reading, Stage
from smoke.judge.sampling import Share
from smoke.proofs import canary_messages
from smoke.proofs.canaries import Flock, with_check_digit


def _words(problems: list[Any]) -> str:
    return "\n".join(map(str, problems))


def _exactly(sent: int, share: float, numbers: range) -> float:
    """Probability that one of these numbers of successes comes up, by the definition."""
    return sum(comb(sent, k) * share**k * (1 - share) ** (sent - k) for k in numbers)


@pytest.mark.parametrize(("sent", "share"), [(250, 0.1), (1000, 0.01), (400, 0.5)])
def test_interval_holds_all_but_one_in_ten_thousand(sent: int, share: float) -> None:
    low, high = sampling.interval(sent, share)
    assert _exactly(sent, share, range(low)) <= 0.5e-4 < _exactly(sent, share, range(low + 1))
    assert _exactly(sent, share, range(high + 1, sent + 1)) <= 0.5e-4 < _exactly(sent, share, range(high, sent + 1))


def test_one_percent_is_told_from_none_and_from_three() -> None:
    number = sampling.needed(1.0, 20_000)
    share = Share("other", number, 1.0)
    low, high = share.bounds
    assert low > 0
    assert _exactly(number, 0.03, range(high + 1)) <= 1e-3
    assert sampling.kept(share, number // 100) == []
    assert "0 of" in _words(sampling.kept(share, 0))
    assert not sampling.kept(share, 0)[0].terminal
    assert sampling.kept(share, number * 3 // 100)[0].terminal
    assert not sampling.tells(number - sampling.STEP, 1.0)


def test_bounds_of_none_and_all_are_exact() -> None:
    assert Share("other", 250, 0.0).bounds == (0, 0)
    assert Share("other", 250, 100.0).bounds == (250, 250)
    assert sampling.needed(0.0, 20_000) == sampling.needed(100.0, 20_000) == 250
    assert "1 of 250 kept (0.40 %); expected 0 to 0" in _words(sampling.kept(Share("other", 250, 0.0), 1))


def test_too_few_traces_say_so() -> None:
    assert sampling.needed(0.01, 1000) == 1000
    assert not sampling.tells(1000, 0.01)


LAGS = {"logs": 5.0}


def _stage(took: float, sent: float, lost: float = 0.0, *, closed: bool = True) -> Stage:
    return Stage("log records", took, {"filtered": 0.0, "sent": sent}, {"send failed": lost}, closed=closed)


def _read(*stages: tuple[float, Stage]) -> list[Reading]:
    return [Reading(at, {"logs": stage}) for at, stage in stages]


def test_what_was_taken_some_seconds_ago_is_accounted_for() -> None:
    readings = _read((0, _stage(100, 100)), (3, _stage(210, 150)), (9, _stage(300, 215)))
    assert balance.balanced(readings, LAGS, {"logs": 100}) == []
    assert balance.told(readings) == (
        "logs: 200 log records taken, 0 filtered and 115 sent; 0 on their way before, 85 on their way now"
    )


def test_what_is_missing_lost_or_never_came_is_named() -> None:
    missing = _read((0, _stage(100, 100)), (3, _stage(210, 150)), (9, _stage(300, 209)))
    assert "110 log records taken or on their way before, 109 accounted for" in _words(
        balance.balanced(missing, LAGS, {"logs": 100})
    )
    waited = _read((0, _stage(100, 80)), (3, _stage(210, 150)), (9, _stage(300, 209)))
    assert "130 log records taken or on their way before, 129 accounted for" in _words(
        balance.balanced(waited, LAGS, {"logs": 100})
    )
    lost = _read((0, _stage(100, 100)), (3, _stage(200, 199)), (9, _stage(200, 199, 1)))
    found = balance.balanced(lost, LAGS, {"logs": 100})
    assert [str(problem) for problem in found] == ["logs, send failed: seen 1 log records; expected none"]
    assert found[0].terminal
    young = _read((0, _stage(100, 100)), (3, _stage(200, 200)), (4, _stage(200, 200)))
    assert "seen 100 log records taken; expected at least the 100" in _words(
        balance.balanced(young, LAGS, {"logs": 100})
    )
    restarted = _read((0, _stage(100, 100)), (9, _stage(5, 5)))
    assert "its counters went back" in _words(balance.balanced(restarted, LAGS, {}))


def test_stage_of_several_programs_says_nothing_of_what_is_on_its_way() -> None:
    assert _stage(10, 4).under_way == 6
    assert _stage(10, 4, closed=False).under_way == 0
    assert _stage(4, 10).under_way == 0


def test_counters_of_a_collector_and_of_stores_are_read() -> None:
    samples = [
        Sample("otelcol_receiver_accepted_log_records", {"receiver": "otlp"}, 7.0),
        Sample("otelcol_receiver_accepted_log_records", {"receiver": "file_log"}, 3.0),
        Sample("otelcol_processor_incoming_items", {"otel_signal": "logs", "processor": "filter"}, 10.0),
        Sample("otelcol_processor_outgoing_items", {"otel_signal": "logs", "processor": "filter"}, 8.0),
        Sample("otelcol_processor_incoming_items", {"otel_signal": "traces", "processor": "x"}, 99.0),
        Sample("otelcol_exporter_sent_log_records", {"exporter": "otlp_http/logs"}, 7.0),
        Sample("otelcol_exporter_enqueue_failed_log_records", {}, 1.0),
        Sample("otelcol_exporter_sent_spans", {}, 4.0),
        Sample("otelcol_processor_tail_sampling_new_trace_id_received", {}, 5.0),
        Sample("otelcol_processor_tail_sampling_global_count_traces_sampled", {"sampled": "true"}, 2.0),
        Sample("otelcol_processor_tail_sampling_global_count_traces_sampled", {"sampled": "false"}, 3.0),
        Sample("otelcol_processor_tail_sampling_sampling_trace_dropped_too_early", {}, 0.0),
    ]
    logs = balance.relay(samples, LOGS)
    assert (logs.took, logs.went, logs.lost["no room in the queue"]) == (10.0, {"filtered": 2.0, "sent": 7.0}, 1.0)
    decisions = balance.sampler(samples)
    assert (decisions.took, decisions.went) == (5.0, {"kept": 2.0, "not sampled": 3.0})
    assert balance.after_sampler(samples).went == {"sent spans": 4.0}
    store = [
        Sample("vl_rows_ingested_total", {"type": "x"}, 6.0),
        Sample("vl_rows_dropped_total", {"reason": "old"}, 1.0),
        Sample("vm_log_messages_total", {"level": "warn", "location": "v@v1/lib/logstorage/block.go:264"}, 2.0),
        Sample("vm_log_messages_total", {"level": "info", "location": "v@v1/lib/logstorage/block.go:1"}, 3.0),
        Sample("vm_log_messages_total", {"level": "warn", "location": "v@v1/lib/logstorage/storage.go:1"}, 4.0),
    ]
    stored = balance.stored_logs(samples, store)
    assert (stored.took, stored.went) == (7.0, {"ingested": 6.0})
    assert stored.lost == {
        "dropped by VictoriaLogs, old": 1.0,
        "dropped by VictoriaLogs, a warning of v@v1/lib/logstorage/block.go:264": 2.0,
    }
    jaeger = [Sample("otelcol_exporter_sent_spans_total", {}, 4.0)]
    assert balance.stored_spans(samples, jaeger).went == {"written by Jaeger": 4.0}


def test_every_field_has_a_canary_of_its_own() -> None:
    flock = Flock("word")
    ids = ("ab" * 16, "cd" * 8, "ef" * 16)
    sent = [
        canary_messages.spans(flock, "s", ids, 1.0),
        canary_messages.records(flock, "s", ids[0], 1.0),
        canary_messages.metrics(flock, "s", ids[:2], 1.0),
    ]
    text = "\n".join(map(str, sent)).lower()
    forms = [form for canary in flock.made for form in canary.forms[:1]]
    assert len(forms) == len(set(forms)) > 250
    # Broken numbers and telephone numbers are in the messages in one of their forms.
    assert [canary.field for canary in flock.made if not any(form in text for form in canary.forms)] == []
    fields = {(canary.signal, canary.field.partition(" (")[0]) for canary in flock.made}
    assert {
        *{("spans", name) for name in ("name", "trace state", "message of the status", "name of an event")},
        *{("spans", f"text of a {name} attribute") for name in ("resource", "scope", "span", "event", "link")},
        *{("spans", f"denied key in a map of a {name} attribute") for name in ("resource", "span", "event")},
        *{("spans", f"{name} of a bare span") for name in ("name", "trace state", "message of the status")},
        *{(signal, "name of the scope") for signal in ("spans", "log records", "metrics")},
        *{(signal, "schema URL of the resource") for signal in ("spans", "log records", "metrics")},
        *{("log records", name) for name in ("severity text", "name of the event", "text of the body")},
        *{("log records", name) for name in ("number in a map of the body", "key of a map of the body")},
        *{("metrics", name) for name in ("name", "unit of a gauge", "description of a sum", "metadata of a histogram")},
        ("metrics", "text of a filtered exemplar attribute"),
        ("metrics", "text of a histogram's point attribute"),
    } <= fields


def test_numbers_of_cards_are_right_by_their_check_digit() -> None:
    assert with_check_digit("411111111111111") == "4111111111111111"
    assert with_check_digit("7992739871") == "79927398713"
    flock = Flock("w")
    numbers = [flock.card("x") for _ in range(3)]
    assert all(one < other for one, other in pairwise(numbers))
    assert all(len(str(number)) == 16 for number in numbers)
