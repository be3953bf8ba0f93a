"""Which keys there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, cast

from sandbox.swanlab_server import bodies, runs
from sandbox.swanlab_server.house import state
from sandbox.swanlab_server.web import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.swanlab_server.house.state import House
    from sandbox.swanlab_server.web import Call

KINDS: Final = ("scalar", "media")
_MOST: Final = 2000
_MOST_EXPERIMENTS: Final = 100


def keys(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/{kind}/keys` {experiments, limit, cursor}: {keys, hasMore, nextCursor}, in order.

    cursor: the last key of the page before.
    """
    body = bodies.mapping(call.body)
    limit = bodies.number({"limit": body.get("limit", _MOST)}, "limit", least=1, most=_MOST)
    cursor = bodies.text_or(body, "cursor", longest=1024)
    known = _known(house, call, body)
    after = [key for key in sorted(set().union(*known.values())) if key > cursor]
    page = after[:limit]
    more = len(after) > limit
    return Answer(body={"keys": page, "hasMore": more, "nextCursor": page[-1] if more else ""})


def availability(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/{kind}/availability` {keys, experiments}: {key: [run, …]}."""
    body = bodies.mapping(call.body)
    asked = bodies.texts(body.get("keys"), "keys", 10_000)
    known = _known(house, call, body)
    return Answer(body={key: [run for run, found in known.items() if key in found] for key in asked})


def _known(house: House, call: Call, body: Mapping[str, Any]) -> dict[str, set[str]]:
    kind = bodies.choice(call.path, "kind", KINDS)
    known: dict[str, set[str]] = {}
    for item in bodies.objects(body.get("experiments"), "experiments", _MOST_EXPERIMENTS):
        run = house.visible(call, state.experiment_of(item))
        found = house.context.points.keys(runs.uid(run), cast("Literal['scalar', 'media']", kind))
        known[bodies.text(item, "experimentId")] = set(found)
    return known
