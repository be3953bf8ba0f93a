"""What is in the stores: runs with metrics, their metadata, their media. The same every time, and hard to compress
where it is so in life."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.bench.recovery.plan import Plan

SMALLEST: Final = 1024
LARGEST: Final = 2 * 1024**2
_TURN: Final = 0.6180339887498949
"""Multiples of the golden ratio, modulo 1, spread evenly however many there are."""
_WINDOW: Final = 64 * 1024
_STRIDE: Final = 8191
_HEAD: Final = 8


def size(number: int) -> int:
    """Bytes of an object: from 1 KiB to 2 MiB, half of them below 8 KiB, 144 KiB on average."""
    return int(SMALLEST * (LARGEST / SMALLEST) ** ((number * _TURN % 1) ** 2))


def body(number: int) -> bytes:
    """Content of an object: none has another one's. Cut out of one block, so that making it costs next to nothing."""
    start = number * _STRIDE % _WINDOW
    return number.to_bytes(_HEAD, "big") + _block()[start : start + size(number) - _HEAD]


def key(number: int) -> str:
    """Key of an object, as SwanLab's SDK makes them: by run, name and step."""
    return f"runs/{number % 97:04d}/media/image {number % 7}/step-{number:06d}.png"


@cache
def _block() -> bytes:
    return random.Random(7).randbytes(LARGEST + _WINDOW)  # noqa: S311  # to be the same every time, not to be secret


def points(plan: Plan, table: str) -> str:
    """The statement that fills table `scalar`: runs one after another, in each its keys, in each its steps."""
    number_of_run = f"intDiv(number, {plan.keys * plan.steps})"
    number_of_key = f"intDiv(number, {plan.steps}) % {plan.keys}"
    columns = (
        f"concat('team-', toString({number_of_run} % 40))",
        f"substring(lower(hex(MD5(toString({number_of_run})))), 1, 21)",
        f"concat(['train/', 'eval/', 'system/'][{number_of_key} % 3 + 1], 'metric-', toString({number_of_key}))",
        f"number % {plan.steps} + 1",
        f"toInt64(number % {plan.steps})",
        # A loss: it falls, with noise whose bits are as random as those of a measurement.
        f"exp(-(number % {plan.steps}) / 200) + (cityHash64(number) % 1000003) / 1e7",
        f"if({number_of_key} % 3 = 2, 'SYSTEM', 'CUSTOM')",
        # Time of day in milliseconds; a step takes about a second.
        "fromUnixTimestamp64Milli(toInt64(1767225600000 + number * 1009 + cityHash64(number) % 997), 'UTC')",
        "18446744073709551615 - (1767225600000000000 + number * 1009000000)",
    )
    return f"INSERT INTO {table} SELECT {', '.join(columns)} FROM numbers({plan.points})"  # noqa: S608  # all ours


def metadata(plan: Plan) -> str:
    """Statements that fill the stand-in's schema: users, projects, runs with configuration and columns, files."""
    runs, keys = plan.runs, plan.keys
    noise = "(SELECT string_agg(md5(r * 1000 + i || ''), ' ') FROM generate_series(1, 60) AS i)"
    return f"""
    INSERT INTO users (username, name, password_hash)
        SELECT 'user-' || i, 'User ' || i, md5(i::text) FROM generate_series(1, 50) AS i;
    INSERT INTO projects (cuid, owner_id, name, visibility)
        SELECT left(md5('project' || i), 21), i, 'team-' || i, 'PRIVATE' FROM generate_series(1, 40) AS i;
    INSERT INTO experiments (cuid, project_id, user_id, name, slug, state, flag_id, created_at)
        SELECT left(md5((r - 1)::text), 21), 1 + (r - 1) % 40, 1 + r % 50, 'run-' || r, 'run-' || r, 'FINISHED',
        md5('flag' || r), '2026-01-01'::timestamptz + r * interval '1 minute' FROM generate_series(1, {runs}) AS r;
    INSERT INTO profiles (experiment_id, config, metadata, requirements)
        SELECT id, json_build_object('lr', 1.0 / r, 'seed', r, 'notes', {noise}),
        json_build_object('host', md5(r || 'h')),
        (SELECT string_agg('package-' || i || '==' || i % 9 || '.' || r % 5, E'\\n') FROM generate_series(1, 200) AS i)
        FROM (SELECT id, id AS r FROM experiments) AS all_runs;
    INSERT INTO columns (experiment_id, key, type, class, name)
        SELECT id, 'train/metric-' || k, 'FLOAT', CASE k % 3 WHEN 2 THEN 'SYSTEM' ELSE 'CUSTOM' END, 'metric-' || k
        FROM experiments, generate_series(0, {keys - 1}) AS k;
    INSERT INTO files (experiment_id, path, size, md5, mime_type, state)
        SELECT 1 + i % {runs}, 'media/step-' || i || '.png', i, md5(i || 'file'), 'image/png', 'UPLOADED'
        FROM generate_series(0, {plan.objects - 1}) AS i;
    ANALYZE;
    """  # noqa: S608  # numbers of the plan
