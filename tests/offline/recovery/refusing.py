"""The real object store behind a disk that fails: it answers 500 for some of its objects, as a server does then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recovery.vault.s3 import Answer, Bucket
from recovery.vault.vault import Vault

if TYPE_CHECKING:
    from tests.offline.recovery.locked import Locked

FAILS = b"<Error><Code>InternalError</Code></Error>"


@dataclass
class Disk:
    """keys: objects that cannot be read. times: how often each is refused, None for ever. asked: refusals so far."""

    keys: set[str] = field(default_factory=set)
    times: int | None = None
    everything: bool = False
    asked: int = 0

    def fails(self, method: str, key: str) -> bool:
        """Whether this request meets a sector that cannot be read. Lists come from elsewhere."""
        if method != "GET" or not key or not (self.everything or key in self.keys):
            return False
        self.asked += 1
        return self.times is None or self.asked <= self.times


class Refusing(Bucket):
    """A bucket on such a disk, asked without pauses."""

    disk: Disk

    def _once(self, method: str, key: str, *rest: Any) -> Answer:  # noqa: ANN401  # handed on as they are
        if self.disk.fails(method, key):
            return Answer(500, {}, FAILS, rest[-1])
        return super()._once(method, key, *rest)


def failing(store: Locked, bucket: str, disk: Disk) -> Vault:
    """A vault whose reader meets the disk."""
    target = store.target(bucket)
    reader = Refusing(target, target.reader, "reader", pause=lambda _: None)
    reader.disk = disk
    return Vault(target.signing_key(), Bucket(target, target.writer, "writer"), reader)
