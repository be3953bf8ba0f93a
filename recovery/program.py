"""What each word of the command line does. Every word gives its exit code and an outcome for people and machines."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recovery import metrics, restore
from recovery.create import create, now
from recovery.cross import cross_check
from recovery.errors import DamagedError, RecoveryError, StoreError
from recovery.kube import in_cluster
from recovery.quiet import Quiesce, resume
from recovery.seal import generate
from recovery.stores.sealed import Sealed
from recovery.vault.prune import prune
from recovery.vault.trial import trial
from recovery.vault.vault import Vault
from recovery.verify import bytes_of, verify
from recovery.vault import names

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from recovery.config import Opened
    from recovery.model import Point
    from recovery.ports import Tell
    from recovery.vault.catalogue import Listed

GOOD, BAD, FAILED = 0, 1, 3
"""Exit codes: done and good; done, and the verdict is bad; could not be done. 2 is a wrong command line."""


@dataclass
class Outcome:
    """code: the exit code. lines: for people. facts: for machines. notes: what was got around and must be looked at."""

    code: int = GOOD
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    """Do what a word says. Raises RecoveryError; a scheduled word has told the Pushgateway by then."""
    word: str = options.word
    if word not in _SCHEDULED:
        return _WORDS[word](options, opened, tell)
    try:
        outcome, values = _SCHEDULED[word](options, opened, tell)
    except RecoveryError as error:
        store = error.store if isinstance(error, StoreError) else None
        _push(opened, word, metrics.failed(_told(opened, word), store=store), tell)
        raise
    if getattr(options, "dry_run", False):
        return outcome
    fault = _push(opened, word, values, tell)
    if fault is not None:
        outcome.code = outcome.code or FAILED  # whoever watches the job by its metrics would be told nothing
        outcome.notes.append(fault)
    return outcome


def _told(opened: Opened, word: str) -> metrics.Run:
    return metrics.Run(ended=now(), period_seconds=getattr(opened.config.period_seconds, word))


def _push(opened: Opened, word: str, values: metrics.Values, tell: Tell) -> str | None:
    if opened.config.metrics_url is None:
        return None
    fault = metrics.push(str(opened.config.metrics_url).rstrip("/"), f"recovery-{word}", values)
    if fault is not None:
        tell(fault)
    return fault


def _create(options: argparse.Namespace, opened: Opened, tell: Tell) -> tuple[Outcome, metrics.Values]:
    config = opened.config
    quiet = None
    if config.quiesce is not None:
        api = in_cluster()
        resume(api, config.quiesce, tell)
        quiet = Quiesce(config.quiesce, api)
    tell("trying what the writer's account may do")
    trial(config.target)
    vault = Vault.open(config.target, write=True)
    taken = create(config, opened.stores, vault, vault.publish, mode=options.mode, quiet=quiet, tell=tell)
    total, sent = sum(taken.sizes.values()), vault.counters.sent
    facts = {"point": taken.point.id, "mode": options.mode, "bytes": total, "sent": sent, "seconds": dict(taken.seconds)}
    lines = [f"point {taken.point.id}: {_size(total)} of {len(taken.sizes)} stores, {_size(sent)} of it new"]
    measured = metrics.Measured(sizes=taken.sizes, seconds=taken.seconds, new_bytes=sent)
    values = metrics.created(
        _told(opened, "create"),
        taken.point,
        measured,
        rpo_seconds=config.rpo_seconds,
        rto_seconds=config.rto_seconds,
    )
    return Outcome(lines=lines, facts=facts, notes=list(vault.notes)), values


def _verify(options: argparse.Namespace, opened: Opened, tell: Tell) -> tuple[Outcome, metrics.Values]:
    vault = Vault.open(opened.config.target, write=True)
    if options.latest:
        point, seen = _newest(vault, "latest")
    else:
        point, seen = vault.point(options.point), ()
    tell(f"verifying {point.id}")
    crossed = cross_check(opened.scratch_sections)
    found = verify(point, opened.scratch, vault, tell, crossed)
    vault.record(found)
    listed = vault.points()
    damaged = sum(one.state in ("damaged", "failed") for one in listed)
    good = vault.latest_verified().point
    total = bytes_of(point, vault) if found.good else 0
    values = metrics.verified(
        _told(opened, "verify"),
        found,
        restored_bytes=total,
        newest_good=vault.point(good.id) if good else None,
        damaged=damaged,
    )
    lines = [f"point {point.id} {'is good' if found.good else 'IS NOT GOOD'} ({found.seconds:.0f} s)"]
    lines += [f"- {line}" for line in found.differences]
    lines += [f"- passed over: {one.id}: {one.damage}" for one in seen]
    facts = {
        "point": point.id,
        "good": found.good,
        "differences": list(found.differences),
        "damaged": [one.id for one in seen],
        "seconds": found.seconds,
        "figures": found.figures,
    }
    code = GOOD if found.good and not seen else BAD
    return Outcome(code=code, lines=lines, facts=facts, notes=list(vault.notes)), values


def _prune(options: argparse.Namespace, opened: Opened, tell: Tell) -> tuple[Outcome, metrics.Values]:
    config = opened.config
    done = prune(
        config.target,
        keep_last=config.retention.keep_last,
        keep_days=config.retention.keep_days,
        dry_run=options.dry_run,
        tell=tell,
    )
    kept = len(Vault.open(config.target, write=False).points())
    verb = "would delete" if options.dry_run else "deleted"
    lines = [f"{verb} {len(done.points)} points and {done.chunks} chunks ({_size(done.bytes)}); {kept} points are kept"]
    facts = {"deleted": list(done.points), "chunks": done.chunks, "bytes": done.bytes, "kept": kept}
    return Outcome(lines=lines, facts=facts, notes=list(done.notes)), metrics.pruned(_told(opened, "prune"), kept=kept)


def _list(_: argparse.Namespace, opened: Opened, __: Tell) -> Outcome:
    vault = Vault.open(opened.config.target, write=False)
    points = vault.points()
    facts = {"points": [_row(one) for one in points]}
    lines = [f"{one.id}  {one.state}{f': {one.damage}' if one.damage else ''}" for one in points]
    return Outcome(lines=lines or ["there is no restore point"], facts=facts, notes=list(vault.notes))


def _row(listed: Listed) -> dict[str, Any]:
    def moment(value: datetime | None) -> str | None:
        return value.isoformat() if value else None

    return {
        "id": listed.id,
        "state": listed.state,
        "started": moment(listed.started),
        "ended": moment(listed.ended),
        "verified": moment(listed.verified),
        "damage": listed.damage or None,
    }


def _status(_: argparse.Namespace, opened: Opened, __: Tell) -> Outcome:
    """What would be lost now, and how long a restore takes, beside what the stack's settings ask for."""
    config, vault = opened.config, Vault.open(opened.config.target, write=False)
    good, moment = vault.latest_verified().point, datetime.now(UTC)
    if good is None:
        return Outcome(code=BAD, lines=["no restore point was ever verified"], facts={"verified": None}, notes=[])
    point, last = vault.point(good.id), vault.verifications(good.id)[-1]
    lost = (moment - point.first_lost).total_seconds()
    faults = []
    if lost > config.rpo_seconds:
        faults.append(f"{lost:.0f} s would be lost now, {config.rpo_seconds} s are accepted (rpo)")
    if last.seconds > config.rto_seconds:
        faults.append(f"restoring took {last.seconds:.0f} s, {config.rto_seconds} s are accepted (rto)")
    facts = {"verified": point.id, "lost_seconds": lost, "restore_seconds": last.seconds, "faults": faults}
    lines = [f"last verified point {point.id}: {lost:.0f} s would be lost, restoring took {last.seconds:.0f} s", *faults]
    return Outcome(code=BAD if faults else GOOD, lines=lines, facts=facts, notes=list(vault.notes))


def _restore(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    vault, point, notes = _asked(options, opened)
    stores = _without_secrets(restore.chosen(opened.stores, tuple(options.store)), tell)
    differences = restore.restore(point, stores, vault, tell)
    lines = [f"point {point.id}: a copy of {len(stores)} stores stands beside; promote it, or discard it"]
    if differences:
        lines = [f"point {point.id}: the copies are NOT equal to it", *(f"- {line}" for line in differences)]
    facts = {"point": point.id, "stores": [store.name for store in stores], "differences": list(differences)}
    return Outcome(code=BAD if differences else GOOD, lines=lines, facts=facts, notes=[*notes, *vault.notes])


def _promote(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    vault, point, notes = _asked(options, opened)
    stores = _without_secrets(restore.chosen(opened.stores, tuple(options.store)), tell)
    restore.promote(point, stores, vault, tell, force=options.force)
    lines = [f"point {point.id} is live; what it replaced is kept until `confirm`, and `demote` puts it back"]
    return Outcome(lines=lines, facts={"point": point.id, "stores": [store.name for store in stores]}, notes=notes)


def _without_secrets(stores: Any, tell: Tell) -> Any:  # noqa: ANN401  # a tuple of stores, as it came
    """Sealed secrets are opened by a person, with a key that no cluster has."""
    left = tuple(store for store in stores if store.kind != "secrets")
    if len(left) < len(stores):
        tell("secrets stay sealed: `open-secrets` opens them where the recovery key is")
    return left


def _each(step: str) -> Callable[[argparse.Namespace, Opened, Tell], Outcome]:
    def word(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
        stores = _without_secrets(restore.chosen(opened.stores, tuple(options.store)), tell)
        restore.each(stores, lambda store: str(getattr(store, step)()), tell)
        return Outcome(lines=[f"{step}: {len(stores)} stores"], facts={"stores": [store.name for store in stores]})

    return word


def _resume(_: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    if opened.config.quiesce is None:
        raise RecoveryError("the configuration has no section `quiesce`: this program stops nobody here")
    resume(in_cluster(), opened.config.quiesce, tell)
    return Outcome(lines=["no writer is stopped by this program"])


def _open_secrets(options: argparse.Namespace, opened: Opened, _: Tell) -> Outcome:
    vault, point, notes = _asked(options, opened)
    part = next((part for part in point.parts if part.kind == "secrets"), None)
    if part is None:
        raise RecoveryError(f"point {point.id} holds no secrets; set recovery_public_key, and take another point")
    found = Sealed.open_with(options.private, part, vault)
    options.into.mkdir(mode=0o700)
    for secret, entries in found.items():
        (options.into / secret).mkdir(mode=0o700)
        for key, value in entries.items():
            write_private(options.into / secret / key, value)
    lines = [f"{len(found)} secrets of point {point.id} are in {options.into}; delete them when they are used"]
    return Outcome(lines=lines, facts={"point": point.id, "secrets": sorted(found)}, notes=notes)


def keygen(private: Path) -> Outcome:
    """Make a recovery key. The private half goes into a file of mode 600 that must not be there yet."""
    secret, public = generate()
    write_private(private, secret)
    lines = [f"public key, for plumbline:recovery.recovery_public_key: {public}", f"private key: {private}; keep it"]
    return Outcome(lines=lines, facts={"public": public})


def write_private(path: Path, text: str) -> None:
    """Raises RecoveryError if there is a file already, or it cannot be made."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise RecoveryError(f"{path} cannot be made ({error.strerror}); name a file that is not there yet") from error
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(text)


def _asked(options: argparse.Namespace, opened: Opened) -> tuple[Vault, Point, list[str]]:
    vault = Vault.open(opened.config.target, write=False)
    if not options.latest:
        return vault, vault.point(options.point), []
    point, damaged = _newest(vault, "latest_verified")
    return vault, point, [f"passed over: {one.id}: {one.damage}" for one in damaged]


def _newest(vault: Vault, which: str) -> tuple[Point, tuple[Listed, ...]]:
    latest = vault.latest() if which == "latest" else vault.latest_verified()
    if latest.point is None:
        words = "no restore point that can be read" if which == "latest" else "no restore point that was verified"
        raise DamagedError(f"there is {words}; {len(latest.damaged)} are damaged; see `list`, and run `create`")
    return vault.point(latest.point.id), latest.damaged


def _size(count: int) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":  # noqa: PLR2004  # of binary units
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024  # type: ignore[assignment]  # a number all the same
    return ""


_SCHEDULED = {"create": _create, "verify": _verify, "prune": _prune}
_WORDS: dict[str, Callable[[argparse.Namespace, Opened, Tell], Outcome]] = {
    "list": _list,
    "status": _status,
    "restore": _restore,
    "promote": _promote,
    "demote": _each("demote"),
    "confirm": _each("confirm"),
    "discard": _each("discard"),
    "resume": _resume,
    "open-secrets": _open_secrets,
}
