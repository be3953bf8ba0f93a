"""Words that a person says: what there is, and the way back."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Final

from recovery import restore
from recovery.errors import RecoveryError
from recovery.kube import Cluster
from recovery.outcome import BAD, GOOD, Outcome, laid_over, newest, other_key, tampered
from recovery.quiet import Quiesce, resume
from recovery.seal import generate
from recovery.vault.vault import Vault
from recovery.verify import TARGET

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from recovery.config import Config, Opened
    from recovery.model import Point, Verification
    from recovery.ports import Store, Tell
    from recovery.vault.catalogue import Listed


def _list(_: argparse.Namespace, opened: Opened, __: Tell) -> Outcome:
    vault = Vault.open(opened.config.target, write=False)
    points = vault.points()
    covered = vault.tampered()
    facts = {"points": [_row(one) for one in points], **tampered(covered)}
    dated = {True: ", dated ahead", False: ""}
    lines = [f"{one.id}  {one.state}{dated[one.ahead]}{f': {one.damage}' if one.damage else ''}" for one in points]
    lines = [*(lines or ["there is no restore point"]), *laid_over(covered)]
    return Outcome(lines=lines, facts=facts, notes=list(vault.notes))


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
        "ahead": listed.ahead,
    }


def _status(_: argparse.Namespace, opened: Opened, __: Tell) -> Outcome:
    """What would be lost now, and how long a restore takes, beside what the stack's settings ask for."""
    vault = Vault.open(opened.config.target, write=False)
    points = vault.points()
    newest_one, good = vault.latest().point, vault.latest_verified().point
    if newest_one is None or good is None or newest_one.ahead or good.ahead:
        lines = [other_key(points) or _lacking(newest_one, good), *laid_over(vault.tampered())]
        return Outcome(code=BAD, lines=lines, facts={"verified": None}, notes=list(vault.notes))
    ages = {one.id: (vault.now - vault.point(one.id).first_lost).total_seconds() for one in (newest_one, good)}
    verification = vault.verifications(good.id)[-1]
    faults = [
        *_faults(opened.config, ages[newest_one.id], ages[good.id], verification.seconds),
        *_failed_since(points, good),
        *(laid_over(vault.tampered()) or _laid_over_when_verified(verification)),
    ]
    facts = {
        "newest": newest_one.id,
        "lost_seconds": ages[newest_one.id],
        "verified": good.id,
        "verified_seconds": ages[good.id],
        "restore_seconds": verification.seconds,
        "faults": faults,
    }
    lines = [
        f"newest point {newest_one.id}: {ages[newest_one.id]:.0f} s would be lost now",
        f"last verified {good.id}: {ages[good.id]:.0f} s old, restoring took {verification.seconds:.0f} s",
        *faults,
    ]
    return Outcome(code=BAD if faults else GOOD, lines=lines, facts=facts, notes=list(vault.notes))


def _failed_since(points: Sequence[Listed], good: Listed) -> list[str]:
    """Points after the last good one that cannot be counted on, though the newest may be among them."""
    return [
        f"point {one.id} was not good when it was last verified: it cannot be counted on; verify it again, or take one"
        for one in points
        if one.state == "failed" and one.id > good.id and not one.ahead
    ]


def _lacking(newest_one: Listed | None, good: Listed | None) -> str:
    """Why nothing can be said of what would be lost."""
    if newest_one is None:
        return "there is no restore point that can be read"
    if newest_one.ahead:
        return f"what would be lost cannot be told: the only restore points are dated ahead, {newest_one.id} last"
    if good is None:
        return "no restore point was ever verified"
    return f"no restore point was verified but those that are dated ahead, {good.id} last: nobody knows how old it is"


def _faults(config: Config, lost: float, unverified: float, restored: float) -> list[str]:
    """Aims that are missed. A point is verified after it is taken: its age may be two periods more."""
    oldest = config.rpo_seconds + 2 * config.period_seconds.verify
    return [
        f"{what} {value:.0f} s, {limit} s are accepted ({aim})"
        for what, value, limit, aim in (
            ("what would be lost is", lost, config.rpo_seconds, "rpo"),
            ("the last verified point is older than", unverified, oldest, "rpo and two verifications"),
            ("restoring took", restored, config.rto_seconds, "rto"),
        )
        if value > limit
    ]


def _laid_over_when_verified(verification: Verification) -> list[str]:
    """Chunks are read by verifications alone."""
    count = verification.figures.get(TARGET, {}).get("tampered")
    if not count:
        return []
    return [
        f"TAMPERED: the verification of point {verification.point} found {count} objects that somebody hid or laid "
        "something over; look at its log, and for who has a key of the target (runbook recovery-verification)"
    ]


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
    facts: dict[str, Any] = {"point": point.id, "stores": [store.name for store in stores]}
    kept = "what it replaced is kept until `confirm`, and `demote` puts it back"
    if restore.live(point, stores):  # asked before anybody is stopped
        changed = restore.once_more(point, stores, vault, tell)
        since = "; changed since, and kept as it is:" if changed else ""
        lines = [f"point {point.id} is already live, nothing was done, nobody was stopped; {kept}{since}"]
        lines += [f"- {line}" for line in changed]
        return Outcome(lines=lines, facts={**facts, "already": True, "changed": list(changed)}, notes=notes)
    with _quiet(opened, tell) if options.quiesce else contextlib.nullcontext():
        restore.promote(point, stores, vault, tell, force=options.force)
    lines = [f"point {point.id} is live; {kept}"]
    return Outcome(lines=lines, facts={**facts, "already": False}, notes=notes)


def _quiet(opened: Opened, tell: Tell) -> AbstractContextManager[None]:
    settings = opened.config.quiesce
    if settings is None:
        raise RecoveryError("--quiesce needs the section `quiesce` of the configuration; stop whoever writes yourself")
    api = Cluster(settings.kubeconfig, settings.context)
    resume(api, settings, tell)
    return Quiesce(settings, api)(tell)


def _without_secrets(stores: tuple[Store, ...], tell: Tell) -> tuple[Store, ...]:
    """Sealed secrets are opened by a person, with a key that no cluster has."""
    left = tuple(store for store in stores if store.kind != "secrets")
    if len(left) < len(stores):
        tell("secrets stay sealed: `open-secrets` opens them where the recovery key is")
    return left


def _each(step: str) -> Callable[[argparse.Namespace, Opened, Tell], Outcome]:
    def word(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
        stores = _without_secrets(restore.chosen(opened.stores, tuple(options.store)), tell)
        with _quiet(opened, tell) if getattr(options, "quiesce", False) else contextlib.nullcontext():
            restore.each(stores, lambda store: str(getattr(store, step)()), tell)
        return Outcome(lines=[f"{step}: {len(stores)} stores"], facts={"stores": [store.name for store in stores]})

    return word


def _resume(_: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    quiesce = opened.config.quiesce
    if quiesce is None:
        raise RecoveryError("the configuration has no section `quiesce`: this program stops nobody here")
    started = resume(Cluster(quiesce.kubeconfig, quiesce.context), quiesce, tell)
    words = f"started again: {', '.join(started)}" if started else "no writer was stopped by this program"
    return Outcome(lines=[words], facts={"started": list(started)})


def keygen(private: Path) -> Outcome:
    """Make a recovery key. The private half goes into a file of mode 600 that must not be there yet."""
    secret, public = generate()
    write_private(private, secret.encode())
    lines = [f"public key, for plumbline:recovery.recovery_public_key: {public}", f"private key: {private}; keep it"]
    return Outcome(lines=lines, facts={"public": public})


def write_private(path: Path, content: bytes) -> None:
    """Raises RecoveryError if there is a file already, or it cannot be made."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise RecoveryError(f"{path} cannot be made ({error.strerror}); name a file that is not there yet") from error
    with os.fdopen(number, "wb") as file:
        file.write(content)


def _asked(options: argparse.Namespace, opened: Opened) -> tuple[Vault, Point, list[str]]:
    vault = Vault.open(opened.config.target, write=False)
    if not options.latest:
        return vault, vault.point(options.point), []
    point, damaged = newest(vault, vault.latest_verified())
    return vault, point, [f"passed over: {one.id}: {one.damage}" for one in damaged]


WORDS: Final[dict[str, Callable[[argparse.Namespace, Opened, Tell], Outcome]]] = {
    "list": _list,
    "status": _status,
    "restore": _restore,
    "promote": _promote,
    "demote": _each("demote"),
    "confirm": _each("confirm"),
    "discard": _each("discard"),
    "resume": _resume,
}
