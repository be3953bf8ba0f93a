"""A bucket: media of runs, beside plain GET and PUT of every object, which is what a mirror does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from recovery.stores.objects.beside import OBJECTS, name_of
from tests.bench.recovery import content, steps
from tests.bench.recovery.figures import Measured, Step
from tests.bench.recovery.site import BUCKETS
from tests.offline.recovery.buckets import LIVE, SCRATCH

if TYPE_CHECKING:
    from tests.bench.recovery.cost import Ended
    from tests.bench.recovery.steps import Bench

NAME: Final = "media"
GET, PUT = "GET of every object", "PUT, not hashed"
RAW: Final = "raw/"
"""Where the raw tool's objects lie in the scratch bucket."""
BESIDE: Final = ".plumbline-restored/"
_HOURS: Final = timedelta(hours=6)


@dataclass(frozen=True)
class Media:
    """The store."""

    bench: Bench
    name: str = NAME

    def fill(self) -> None:
        """Every object, as the raw tool puts it."""
        steps.worked(self._raw("put", LIVE, ""), "filling the bucket")

    def measure(self) -> Measured:
        """See steps.Store."""
        bench, source = self.bench, self.content(LIVE)
        first, again, point = steps.taken(bench, BUCKETS, self._section(LIVE))
        verify = steps.verified(bench, BUCKETS, [], point)
        restore = self._restored(point)
        bench.meanwhile(f"{self.name} restored", bench.site)
        restore = steps.with_problems(restore, steps.differences(source, self._copy(source)))
        got = self._step(GET, self._raw("get", LIVE, ""))
        put = self._step(PUT, self._raw("put", SCRATCH, RAW))
        put = steps.with_problems(put, steps.differences(source, self.content(SCRATCH, RAW)))
        return Measured(
            name=self.name,
            kind="SeaweedFS",
            unit="objects",
            count=len(source),
            wanted=bench.plan.objects,
            size=sum(found[0] for found in source.values()),
            steps=(first, again, verify, restore, got, put),
            beside=((steps.FIRST, (GET, PUT)), (steps.VERIFY, (GET,)), (steps.RESTORE, (GET, PUT))),
        )

    def content(self, bucket: str, prefix: str = "") -> steps.Content:
        """Key below the prefix → size and the tag that the store made of its bytes."""
        found = self.bench.site.buckets.client.list_objects(bucket, prefix, recursive=True)
        return {(one.object_name or "").removeprefix(prefix): [one.size, (one.etag or "").strip('"')] for one in found}

    def _copy(self, source: steps.Content) -> steps.Content:
        """The same of what the program restored, which lies under names that are made of the keys."""
        keys = {name_of(key): key for key in source}
        found = self.content(SCRATCH, BESIDE)
        return {keys.get(name, name): what for name, what in found.items() if name.startswith(OBJECTS)}

    def _restored(self, point: str) -> Step:
        """Into another bucket, where it is compared. A verification in a cluster reads objects back and no more."""
        self.bench.say(f"    {self.name}: {steps.RESTORE}")
        config = self.bench.site.config(stores=[self._section(SCRATCH)])
        ended = self.bench.site.program(BUCKETS, config, "restore", "--point", point)
        return Step(name=steps.RESTORE, ours=True, cost=ended.cost, problems=steps.refused(ended))

    def _raw(self, word: str, bucket: str, prefix: str) -> Ended:
        client = self.bench.site.buckets.client
        sign = client.presigned_get_object if word == "get" else client.presigned_put_object
        numbers = range(self.bench.plan.objects)
        addresses = [[number, sign(bucket, prefix + content.key(number), expires=_HOURS)] for number in numbers]
        return self.bench.site.raw(BUCKETS, do=word, threads=self.bench.plan.threads, addresses=addresses)

    def _step(self, name: str, ended: Ended) -> Step:
        return Step(name=name, ours=False, cost=steps.worked(ended, name).cost)

    def _section(self, bucket: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.bench.site.buckets.settings(bucket).model_dump_json())
        return found
