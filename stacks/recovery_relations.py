"""Relations between the settings of recovery: each value is right by itself, together they lose what they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stacks.cron import longest_gap_seconds
from stacks.fields import duration_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stacks.recovery import ExternalTarget, Recovery
    from stacks.settings import Settings

KEY = "plumbline:recovery"


def broken(settings: Settings) -> list[str]:
    """One sentence per broken relation: the values, the rule, and what to change. Nothing where recovery is off."""
    wanted = settings.recovery
    if wanted.mode == "off":
        return []
    return [
        *_needed(settings),
        *_image(settings),
        *_target(settings),
        *_times(wanted),
        *_key(settings),
    ]


def _needed(settings: Settings) -> Iterator[str]:
    if settings.swanlab.mode == "off":
        yield (
            f"{KEY}.mode is `managed` and plumbline:swanlab.mode `off`, so there is nothing to restore; accepted: both "
            f"or neither; fix: pulumi config set --path '{KEY}.mode' off"
        )
    if settings.pushgateway.mode == "off":
        yield (
            f"{KEY}.mode is `managed` and plumbline:pushgateway.mode `off`: nobody would learn that points are no "
            "longer made; accepted: `managed`; fix: pulumi config set --path 'plumbline:pushgateway.mode' managed"
        )


def _image(settings: Settings) -> Iterator[str]:
    """It is ours: none of an upstream, so elsewhere than on the embedded cluster the settings name it."""
    built, named = settings.images.source == "file", settings.recovery.image is not None
    if built and named:
        yield (
            f"{KEY}.image is for upstream images, but plumbline:images.source is `file`, and that image is built here; "
            f"accepted: one of both; fix: pulumi config rm --path '{KEY}.image'"
        )
    if not built and not named:
        yield (
            f"{KEY}.mode is `managed` and {KEY}.image is missing: no upstream has the image of recovery/; accepted: "
            f"host/name:tag; fix: pulumi config set --path '{KEY}.image' <image>"
        )


def _target(settings: Settings) -> Iterator[str]:
    target = settings.recovery.target
    if (target.own is None) == (target.external is None):
        there = "neither own nor external" if target.own is None else "both own and external"
        yield f"{KEY}.target has {there}; accepted: exactly one of them; fix: name the bucket that points go to"
    if target.own is not None:
        yield from _own(settings)
    if target.external is not None:
        yield from _external(settings, target.external)


def _own(settings: Settings) -> Iterator[str]:
    if settings.profile == "durable":
        yield (
            f"{KEY}.target.own is in the same cluster as what it should bring back, and plumbline:profile is `durable`;"
            f" accepted: {KEY}.target.external, a bucket that this cluster cannot take along; fix: name one"
        )
    if not settings.network.policies:
        yield (
            f"{KEY}.target.own needs plumbline:network.policies true: ports of the store that ask for no key are "
            "closed by a NetworkPolicy alone; accepted: true, or an external target; fix: pulumi config set --path "
            "'plumbline:network.policies' true"
        )


def _external(settings: Settings, wanted: ExternalTarget) -> Iterator[str]:
    yield from _address(wanted)
    yield from _accounts(wanted)
    if settings.profile != "durable":
        return
    s3 = settings.swanlab.stores.s3
    sources = {bucket.endpoint for bucket in (s3.public, s3.private) if bucket is not None}
    host = urlsplit(wanted.endpoint).hostname or ""
    if s3.mode == "external" and host in sources:
        yield (
            f"{KEY}.target.external.endpoint is at `{host}`, and so is plumbline:swanlab.stores.s3:"
            " what takes one away takes the other; accepted: an S3 elsewhere on a durable stack; fix: another endpoint"
        )
    if s3.secret is not None and s3.secret in (wanted.writer_secret, wanted.reader_secret, wanted.pruner_secret):
        yield (
            f"{KEY}.target.external has Secret `{s3.secret}`, with which SwanLab writes its own objects: whoever takes "
            "that key could empty both; accepted: accounts of its own; fix: other Secrets"
        )


def _address(wanted: ExternalTarget) -> Iterator[str]:
    parts = urlsplit(wanted.endpoint)
    if parts.path.strip("/") or parts.query or parts.fragment:
        yield (
            f"{KEY}.target.external.endpoint is `{wanted.endpoint}`; accepted: scheme, host and perhaps a port, the "
            f"bucket has its own key; fix: pulumi config set --path '{KEY}.target.external.endpoint' "
            f"{parts.scheme}://{parts.netloc}"
        )


def _accounts(wanted: ExternalTarget) -> Iterator[str]:
    """One key for all would let the account that every run shows delete what it wrote."""
    names = (wanted.writer_secret, wanted.reader_secret, wanted.pruner_secret)
    if len(set(names)) < len(names):
        yield (
            f"{KEY}.target.external names the Secrets {', '.join(f'`{name}`' for name in names)} for writer, reader and"
            " pruner; accepted: three, since who writes must not be able to delete; fix: an account for each"
        )


def _times(wanted: Recovery) -> Iterator[str]:
    period = longest_gap_seconds(wanted.schedule.create)
    if duration_seconds(wanted.rpo) < period:
        yield (
            f"{KEY}.rpo {wanted.rpo} is shorter than the {period // 60} minutes that {KEY}.schedule.create "
            f"`{wanted.schedule.create}` lets pass, so it would be missed by plan; accepted: at least that; fix: a "
            "longer rpo or a denser schedule"
        )
    retention = wanted.retention
    if retention.lock_days > retention.keep_days:
        yield (
            f"{KEY}.retention.lock_days {retention.lock_days} is more than keep_days {retention.keep_days}: what is no "
            "longer kept could not be deleted; accepted: at most keep_days; fix: a shorter lock or keep more"
        )
    if duration_seconds(wanted.gate_max_age) < longest_gap_seconds(wanted.schedule.verify):
        yield (
            f"{KEY}.gate_max_age {wanted.gate_max_age} is shorter than what {KEY}.schedule.verify "
            f"`{wanted.schedule.verify}` lets pass: no upgrade could begin most of the time; accepted: at least that; "
            "fix: a longer one, or verify more often"
        )


def _key(settings: Settings) -> Iterator[str]:
    if settings.profile == "durable" and settings.recovery.recovery_public_key is None:
        yield (
            f"{KEY}.recovery_public_key is missing on a durable stack: the Secrets of the stack would be in no restore "
            "point; accepted: the public half of a key whose private half is in no cluster; fix: make one with "
            f"`python3 -m recovery keygen`, then pulumi config set --path '{KEY}.recovery_public_key' <key>"
        )
