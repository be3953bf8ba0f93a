"""The engine of a model server: places for requests, a prefix cache, a KV cache that fills and empties."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sandbox.workloads.inference.asking import BLOCK
from sandbox.workloads.inference.exposition import Finished, ModelMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opentelemetry.trace import SpanContext

    from sandbox.workloads.inference.asking import Job

SLOTS: Final = 64
BLOCKS: Final = 8192
"""Blocks of the KV cache: 131072 tokens. A request needs 512 at most."""
_MOST_HELD: Final = BLOCKS // 2


def blocks_of(tokens: int) -> int:
    """Blocks that so many tokens fill, the last one perhaps in part."""
    return -(-tokens // BLOCK)


@dataclass
class Run:
    """A request in the engine. Times are of the monotonic clock, 0 for what has not come yet."""

    job: Job
    metrics: ModelMetrics
    arrived: float
    scheduled: float
    companions: tuple[SpanContext, ...]
    first: float = 0.0
    last: float = 0.0
    generated: int = 0
    cached: int = 0

    def prompt(self, *, local: int, external: int, asked_external: bool = False) -> None:
        """The prompt was processed."""
        self.cached = local + external
        self.metrics.prompt(self.job.input_tokens, local=local, external=external, asked_external=asked_external)

    def token(self) -> None:
        """One more token was made."""
        now = time.monotonic()
        if self.generated:
            self.metrics.token(now - self.last)
        else:
            self.first = now
            self.metrics.first_token(now - self.arrived)
        self.generated, self.last = self.generated + 1, now

    def done(self, reason: str) -> None:
        """Tell the metrics."""
        now = time.monotonic()
        self.metrics.finished(
            Finished(
                reason=reason,
                prompt_tokens=self.job.input_tokens,
                cached_tokens=self.cached,
                generated_tokens=self.generated,
                e2e=now - self.arrived,
                queued=self.scheduled - self.arrived,
                prefill=(self.first or now) - self.scheduled,
                decode=self.last - self.first,
            )
        )

    @property
    def first_token_seconds(self) -> float:
        """From arrival to the first token."""
        return self.first - self.arrived


@dataclass
class Engine:
    """Admits requests one after the other while there is a place and room in the KV cache."""

    model: str
    slots: int = SLOTS
    blocks: int = BLOCKS
    metrics: ModelMetrics = field(init=False)

    def __post_init__(self) -> None:
        """Nothing runs yet."""
        self._free = threading.Condition()
        self._running: dict[str, tuple[int, SpanContext]] = {}
        self._waiting = 0
        self._held: OrderedDict[str, int] = OrderedDict()
        self._prefixes: OrderedDict[str, None] = OrderedDict()
        self.metrics = ModelMetrics(
            self.model,
            {"running": lambda: len(self._running), "waiting": lambda: self._waiting, "usage": self.usage},
        )

    @contextmanager
    def admit(self, job: Job, context: SpanContext, generates: int) -> Iterator[Run]:
        """A place for a request; waits for one. generates: tokens that it will make here. context: of its span."""
        arrived, need = time.monotonic(), blocks_of(job.input_tokens + generates)
        with self._free:
            self._waiting += 1
            self._free.wait_for(lambda: len(self._running) < self.slots and self._busy() + need <= self.blocks)
            self._waiting -= 1
            companions = tuple(companion for _, companion in self._running.values())
            self._running[job.request_id] = (need, context)
        run = Run(job, self.metrics, arrived, time.monotonic(), companions)
        try:
            yield run
        finally:
            with self._free:
                del self._running[job.request_id]
                self._free.notify_all()

    def known_prefix(self, blocks: Sequence[str], tokens: int) -> int:
        """Tokens of a prompt that are in the prefix cache, and remember the rest.

        At least one token is computed, whatever is known: the model must say something about it.
        """
        with self._free:
            hits = 0
            for block in blocks:
                if block not in self._prefixes:
                    break
                hits += 1
            for block in blocks:
                self._prefixes[block] = None
                self._prefixes.move_to_end(block)
            while len(self._prefixes) > self.blocks:
                self._prefixes.popitem(last=False)
        return min(hits, (tokens - 1) // BLOCK) * BLOCK if tokens else 0

    def hold(self, request_id: str, tokens: int) -> None:
        """Keep what prefill computed until it is fetched, the oldest given up for the newest."""
        with self._free:
            self._held[request_id] = blocks_of(tokens)
            while sum(self._held.values()) > _MOST_HELD:
                self._held.popitem(last=False)

    def release(self, request_id: str) -> int | None:
        """Blocks that were held for a request, and are no longer; None: nothing is."""
        with self._free:
            return self._held.pop(request_id, None)

    def usage(self) -> float:
        """Part of the KV cache that is in use, 0 to 1."""
        with self._free:
            return min(1.0, (self._busy() + sum(self._held.values())) / self.blocks)

    def _busy(self) -> int:
        return sum(need for need, _ in self._running.values())
