"""Tells the Pushgateway what a run did: values of the catalogue, one group for each job, added with POST.

POST replaces the metrics that it brings and leaves the others of the group: the last success stays what it was when a
run fails. PUT would wipe it away.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from http.client import HTTPException, InvalidURL
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from signals import recovery_metrics as names
from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from recovery.model import Point, Verification

    Values = dict[str, float | Mapping[str, float]]
    """Metric → value, or store → value."""

NO_STORE: Final = "none"
"""Where a run failed that failed in no store."""

_TIMEOUT_SECONDS: Final = 10.0
_PAUSES_SECONDS: Final = (1.0, 5.0)
_ANSWER_BYTES: Final = 400
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, kw_only=True)
class Run:
    """Which run tells. ended: aware. period_seconds: how often the job means to succeed, None if it has no schedule."""

    ended: datetime
    period_seconds: int | None

    @property
    def promise(self) -> Values:
        """What the job is watched by; a run that failed keeps it up."""
        return {} if self.period_seconds is None else {JOB_PERIOD: self.period_seconds}

    @property
    def success(self) -> Values:
        """The promise, kept, and the failure before it taken back: what is told last counts, whatever clocks said."""
        return {**self.promise, JOB_SUCCESS: self.ended.timestamp(), names.LAST_FAILURE: {NO_STORE: 0.0}}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What `create` measured. sizes: store → bytes of its part, those behind its index included. seconds: store → time
    to read it. new_bytes: what the vault did not have before. tampered: see Vault.tampered.
    """

    sizes: Mapping[str, float]
    seconds: Mapping[str, float]
    new_bytes: float
    tampered: int


def created(run: Run, point: Point, measured: Measured, *, rpo_seconds: float, rto_seconds: float) -> Values:
    """Values of a point that was made. Raises ValueError if a store of it was not measured, or one that it lacks was.

    A store that is silently missing here would look like one that the point does not hold.
    """
    stores = {part.store for part in point.parts}
    for what, found in (("sizes", measured.sizes), ("seconds", measured.seconds)):
        if set(found) != stores:
            raise ValueError(f"{what} are of {sorted(found)}, and the parts of point {point.id} are {sorted(stores)}")
    return {
        **run.success,
        names.LAST_POINT: point.first_lost.timestamp(),
        names.POINT_BYTES: dict(measured.sizes),
        names.CREATE_SECONDS: dict(measured.seconds),
        names.NEW_BYTES: measured.new_bytes,
        names.TAMPERED: measured.tampered,
        names.RPO_TARGET: rpo_seconds,
        names.RTO_TARGET: rto_seconds,
    }


def verified(
    run: Run,
    verification: Verification,
    *,
    restored_bytes: float,
    newest_good: Point | None,
    damaged: int,
    tampered: int,
) -> Values:
    """Values of a verification that came to its end, good or not; one that is not good is no success.

    restored_bytes: of the point, counted as its sizes are. newest_good: the newest point that is kept and whose last
    verification was good, this one included; None if there is none. damaged: points kept whose last one was not good.
    tampered: see Vault.tampered.
    """
    found: Values = {
        names.LAST_VERIFIED: newest_good.first_lost.timestamp() if newest_good else 0.0,
        names.VERIFY_SECONDS: verification.seconds,
        names.DIFFERENCES: len(verification.differences),
        names.DAMAGED: damaged,
        names.TAMPERED: tampered,
    }
    if not verification.good:
        return {**run.promise, **found}
    rate = {names.RESTORE_RATE: restored_bytes / verification.seconds} if verification.seconds > 0 else {}
    return {**run.success, **found, **rate}


def pruned(run: Run, *, kept: int, tampered: int) -> Values:
    """Values after old points were looked for. kept: points that are left. tampered: see Pruned."""
    return {**run.success, names.POINTS: kept, names.TAMPERED: tampered}


def failed(run: Run, *, store: str | None) -> Values:
    """Values of a run of any job that failed. store: where, None if in no store. The last success is left alone."""
    return {**run.promise, names.LAST_FAILURE: {store or NO_STORE: run.ended.timestamp()}}


def predicted_restore_seconds(size: float, verification: Verification, restored_bytes: float) -> float | None:
    """How long a restore of `size` bytes takes at the speed of a verification; None if that tells no speed."""
    return size * verification.seconds / restored_bytes if verification.good and restored_bytes > 0 else None


def push(
    url: str, job: str, values: Mapping[str, float | Mapping[str, float]], pauses: Sequence[float] = _PAUSES_SECONDS
) -> str | None:
    """Add values to the group of a job: metric → value, or store → value where the catalogue has that label.

    url: of the Pushgateway, without path. pauses: seconds before each further attempt. Returns None, or what is wrong
    as a text: the run has done its work, whatever becomes of this. Raises ValueError for a job or a metric that is not
    in the catalogue, or of another shape.
    """
    if job not in names.JOBS:
        raise ValueError(f"job {job!r} is not in the catalogue; known are {', '.join(names.JOBS)}")
    families = [_family(name, value) for name, value in sorted(values.items())]
    wrong = [sample.name for family in families for sample in family.samples if not math.isfinite(sample.value)]
    if wrong:
        # Prometheus compares with NaN as with nothing: no alert would ever fire.
        return f"nothing was pushed for job {job}: no number in {', '.join(wrong)}; report it as a fault of the program"
    body = _text(families)
    fault, again = _post(url, job, body)
    for pause in pauses:
        if fault is None or not again:
            break
        time.sleep(pause)
        fault, again = _post(url, job, body)
    return fault


def _family(name: str, value: float | Mapping[str, float]) -> GaugeMetricFamily:
    metric = names.PUSHED.get(name)
    if metric is None:
        raise ValueError(f"metric {name!r} is not in the catalogue; known are {', '.join(sorted(names.PUSHED))}")
    samples = (
        {(store,): number for store, number in value.items()} if not isinstance(value, (int, float)) else {(): value}
    )
    if any(len(labels) != len(metric.labels) for labels in samples):
        raise ValueError(f"{name} takes {'a value for each store' if metric.labels else 'one value'}, not {value!r}")
    family = GaugeMetricFamily(name, metric.meaning, labels=metric.labels)
    for labels, number in samples.items():
        family.add_metric(labels, number)
    return family


class _Fixed(Collector):
    def __init__(self, families: Sequence[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._families


def _text(families: Sequence[GaugeMetricFamily]) -> bytes:
    """In Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Fixed(families))
    return generate_latest(registry)


class _NoRedirect(HTTPRedirectHandler):
    """A POST that is redirected becomes a GET, which any page answers with 200."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none: the answer itself is then an error."""


def _post(url: str, job: str, body: bytes) -> tuple[str | None, bool]:
    """What is wrong, None if nothing, and whether another attempt may help."""
    told = f"what job {job} did is not told to the Pushgateway"
    address = f"{url.rstrip('/')}/metrics/job/{quote(job, safe='')}"
    try:
        where = urlsplit(url).netloc.rpartition("@")[2]
        request = Request(address, data=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4}, method="POST")  # noqa: S310  # the address is the stack's own
        # No proxy: the address is one of the cluster, whatever the environment says of the target's.
        with build_opener(ProxyHandler({}), _NoRedirect()).open(request, timeout=_TIMEOUT_SECONDS):
            return None, False
    except (ValueError, InvalidURL):
        return f"{told}: metrics_url is no address; accepted is http://HOST:PORT", False
    except HTTPError as error:
        answer = " ".join(error.read(_ANSWER_BYTES).decode("utf-8", "replace").split())
        hint = "look at its log" if error.code >= _SERVER_ERROR else "is metrics_url that of a Pushgateway?"
        return f"{told} at {where}: it answers {error.code} ({answer}); {hint}", error.code >= _SERVER_ERROR
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        hint = "does it run, and is this namespace among plumbline:pushgateway.push_from?"
        return f"{told} at {where}: {reason}; {hint}", True
