"""Deployments that write: stopped so that their number of replicas survives a killed run, and started again.

Every change names the version of the object that it was decided on. A request that arrives late, after its sender gave
up on it, is then refused by the API server instead of stopping a writer that was just started.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from recovery.errors import RecoveryError
from recovery.kube import ApiError, path_of, selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recovery.kube import Api, Json
    from recovery.ports import Tell

ANNOTATION: Final = "plumbline/quiesced-replicas"
"""On a stopped Deployment: how many replicas it is to have again."""
_APPS, _CORE, _SCALING = "apis/apps/v1", "api/v1", "apis/autoscaling/v2"
T = TypeVar("T")
_ATTEMPTS: Final = 10
_REFUSED: Final = frozenset({401, 403, 404})
_ENDED: Final = frozenset({"Succeeded", "Failed"})
"""Phases of pods whose containers have all ended; an evicted pod stays listed like this for good."""


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """As it is now. version: of the object. generation: of its specification. held: value of ANNOTATION."""

    name: str
    version: str
    generation: int
    replicas: int
    held: str | None
    selector: str

    @property
    def stopped_by_user(self) -> bool:
        """Without replicas, and not through this program."""
        return self.replicas == 0 and self.held is None

    def wanted(self) -> int:
        """Replicas that it is to have again. Raises RecoveryError if the annotation is not such a number."""
        if self.held is None or not self.held.isascii() or not self.held.isdigit() or int(self.held) < 1:
            raise RecoveryError(
                f"Deployment {self.name}: annotation {ANNOTATION} is {self.held!r}; accepted: a number of replicas, 1 "
                "or more; set the right number, or scale the Deployment yourself and remove the annotation"
            )
        return int(self.held)


class Writers:
    """Deployments of one namespace, in the order in which they are stopped. pace: seconds between two attempts.

    Its account needs: get and patch of deployments, patch of deployments/scale, list of pods and of
    horizontalpodautoscalers. All methods raise RecoveryError.
    """

    def __init__(self, api: Api, namespace: str, order: Sequence[str], pace: float) -> None:
        self._api = api
        self._namespace = namespace
        self._order = tuple(order)
        self._pace = pace

    def check(self) -> tuple[Deployment, ...]:
        """All of them, and that they may be stopped: changes nothing. Raises RecoveryError for what would go wrong."""
        found = tuple(self.read(name) for name in self._order)
        scaled = sorted(set(self._autoscaled()) & set(self._order))
        if scaled:
            raise RecoveryError(
                f"namespace {self._namespace}: a HorizontalPodAutoscaler sets the replicas of {', '.join(scaled)} and "
                "could start them while they are to be stopped; remove it, or take points in mode online"
            )
        for writer in found:
            self.pods(writer)
            if not writer.stopped_by_user:
                held = str(writer.replicas) if writer.replicas else str(writer.wanted())
                self._try(partial(self._annotate, writer, held, dry=True))
                self._try(partial(self._scale, writer, 0, dry=True))
        return found

    def read(self, name: str) -> Deployment:
        """A Deployment as it is now."""
        document = self._api.ask("get", "deployments", path_of(_APPS, self._namespace, "deployments", name))
        metadata, spec = document["metadata"], document["spec"]
        return Deployment(
            name=name,
            version=str(metadata["resourceVersion"]),
            generation=int(metadata.get("generation", 0)),
            replicas=int(spec.get("replicas", 1)),
            held=(metadata.get("annotations") or {}).get(ANNOTATION),
            selector=selector(spec["selector"]),
        )

    def pods(self, writer: Deployment) -> tuple[str, ...]:
        """Names of its pods that still run; one that is being terminated does."""
        listed = self._items("pods", path_of(_CORE, self._namespace, "pods", labelSelector=writer.selector))
        return tuple(pod["metadata"]["name"] for pod in listed if pod.get("status", {}).get("phase") not in _ENDED)

    def mark(self) -> None:
        """Write down on each that runs how many replicas it has."""
        for name in self._order:
            self._repeat(name, self._marked)

    def stop(self, deadline: float, tell: Tell) -> tuple[Deployment, ...]:
        """Stop one after another, each until no pod is left. deadline: of `time.monotonic`. As they are then."""
        stopped = []
        for name in self._order:
            if self._again(partial(self.read, name)).stopped_by_user:
                tell(f"{name}: has no replicas and was not stopped by this program, stays so")
            self._repeat(name, self._stopped)
            writer = self._again(partial(self.read, name))
            while left := self._again(partial(self.pods, writer)):
                if time.monotonic() > deadline:
                    raise RecoveryError(
                        f"Deployment {name} was told to stop and still has pods when time is up: {', '.join(left)}; no "
                        "point is taken; look why they do not end, or raise quiesce.seconds"
                    )
                time.sleep(self._pace)
            tell(f"{name}: stopped")
            stopped.append(writer)
        return tuple(stopped)

    def still_stopped(self, stopped: Sequence[Deployment]) -> None:
        """Raises RecoveryError if one was started since, even if it is stopped again."""
        for before in stopped:
            now = self._again(partial(self.read, before.name))
            if now.replicas or now.generation != before.generation or self._again(partial(self.pods, now)):
                raise RecoveryError(
                    f"Deployment {now.name} was changed or started while the point was taken: its parts may be of "
                    "different moments, so it is not kept; find who scales it (another run, a rollout, an operator), "
                    "then try again"
                )

    def start(self, name: str, attempts: int) -> int | None:
        """Give it its replicas again. How many, None if there was nothing to do; twice is like once."""
        given: int | None = None

        def step(writer: Deployment) -> bool:
            nonlocal given
            if writer.held is None:
                return True
            if writer.replicas == 0:
                wanted = writer.wanted()
                self._scale(writer, wanted)
                given = wanted
                return False
            self._annotate(writer, None)
            return True

        self._repeat(name, step, attempts)
        return given

    def _marked(self, writer: Deployment) -> bool:
        # What runs now is the truth; only a stopped one has the number in its annotation alone.
        if writer.replicas and writer.held != str(writer.replicas):
            self._annotate(writer, str(writer.replicas))
        return True

    def _stopped(self, writer: Deployment) -> bool:
        if writer.replicas == 0:
            return True
        if writer.held != str(writer.replicas):
            self._annotate(writer, str(writer.replicas))
        else:
            self._scale(writer, 0)
        return False

    def _repeat(self, name: str, step: Callable[[Deployment], bool], attempts: int = _ATTEMPTS) -> None:
        """Look and act until `step` says that nothing is left to do; conflicts and short outages are waited for."""
        reason: ApiError | None = None
        for _ in range(attempts):
            try:
                if step(self.read(name)):
                    return
            except ApiError as error:
                if not error.passing:
                    raise
                reason = error
                time.sleep(self._pace)
        raise RecoveryError(
            f"Deployment {name}: given up after {attempts} attempts: {reason or 'it changes all the time'}"
        )

    def _again(self, look: Callable[[], T]) -> T:
        """What `look` finds, however short an outage of the API server is."""
        for _ in range(_ATTEMPTS):
            try:
                return look()
            except ApiError as error:
                if not error.passing:
                    raise
                time.sleep(self._pace)
        return look()

    def _annotate(self, writer: Deployment, value: str | None, *, dry: bool = False) -> None:
        body = {"metadata": {"resourceVersion": writer.version, "annotations": {ANNOTATION: value}}}
        path = path_of(_APPS, self._namespace, "deployments", writer.name)
        self._api.ask("patch", "deployments", path, body=body, dry=dry)

    def _scale(self, writer: Deployment, replicas: int, *, dry: bool = False) -> None:
        body = {"metadata": {"resourceVersion": writer.version}, "spec": {"replicas": replicas}}
        path = path_of(_APPS, self._namespace, "deployments", writer.name, "scale")
        self._api.ask("patch", "deployments/scale", path, body=body, dry=dry)

    def _try(self, change: Callable[[], None]) -> None:
        """Only a refusal counts: a conflict may pass, and some admission webhooks know no dry run."""
        try:
            change()
        except ApiError as error:
            if error.status in _REFUSED or error.status is None:
                raise

    def _autoscaled(self) -> Iterator[str]:
        path = path_of(_SCALING, self._namespace, "horizontalpodautoscalers")
        for scaler in self._items("horizontalpodautoscalers", path):
            target = scaler["spec"]["scaleTargetRef"]
            if target["kind"] == "Deployment":
                yield target["name"]

    def _items(self, resource: str, path: str) -> list[dict[str, Any]]:
        document: Json = self._api.ask("list", resource, path)
        return list(document.get("items") or ())
