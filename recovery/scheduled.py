"""Words that CronJobs say: take, verify, prune. Whatever they come to, the Pushgateway is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery import metrics
from recovery.create import create, now
from recovery.cross import cross_check
from recovery.errors import RecoveryError, StoreError
from recovery.kube import Cluster
from recovery.outcome import BAD, FAILED, GOOD, Outcome, laid_over, newest, size, tampered
from recovery.quiet import Quiesce, resume
from recovery.vault.prune import prune
from recovery.vault.trial import trial
from recovery.vault.vault import Vault
from recovery.verify import TARGET, bytes_of, verify

if TYPE_CHECKING:
    import argparse

    from recovery.config import Opened
    from recovery.ports import Tell


def run(options: argparse.Namespace, opened: Opened, tell: Tell) -> Outcome:
    """Do what the word says. Raises RecoveryError; the Pushgateway has been told by then."""
    word: str = options.word
    try:
        outcome, values = WORDS[word](options, opened, tell)
    except BaseException as error:  # a run that is ended by a signal, or by a fault of ours, has failed as well
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
        api = Cluster(config.quiesce.kubeconfig, config.quiesce.context)
        resume(api, config.quiesce, tell)
        quiet = Quiesce(config.quiesce, api)
    tell("trying what the writer's account may do")
    trial(config.target)
    vault = Vault.open(config.target, write=True, resend=options.resend)
    taken = create(config, opened.stores, vault, vault.publish, mode=options.mode, quiet=quiet, tell=tell)
    unread = _manifests(vault)
    total, sent, covered = sum(taken.sizes.values()), vault.counters.sent, vault.tampered()
    facts = {
        "point": taken.point.id,
        "mode": options.mode,
        "bytes": total,
        "sent": sent,
        "seconds": dict(taken.seconds),
        **tampered(covered),
    }
    lines = [f"point {taken.point.id}: {size(total)} of {len(taken.sizes)} stores, {size(sent)} of it new"]
    lines += laid_over(covered)
    measured = metrics.Measured(sizes=taken.sizes, seconds=taken.seconds, new_bytes=sent, tampered=len(covered))
    values = metrics.created(
        _told(opened, "create"),
        taken.point,
        measured,
        rpo_seconds=config.rpo_seconds,
        rto_seconds=config.rto_seconds,
    )
    return Outcome(lines=lines, facts=facts, notes=[*vault.notes, *unread]), values


def _manifests(vault: Vault) -> list[str]:
    """Look at every manifest, whatever lies over one. The point is made by then: what goes wrong here is a note."""
    if not vault.reads:
        return []
    try:
        vault.points()
    except RecoveryError as error:
        return [f"whether somebody laid something over a manifest is not known: {error}"]
    return []


def _verify(options: argparse.Namespace, opened: Opened, tell: Tell) -> tuple[Outcome, metrics.Values]:
    vault = Vault.open(opened.config.target, write=True)
    if options.latest:
        point, seen = newest(vault, vault.latest())
    else:
        point, seen = vault.point(options.point), ()
    tell(f"verifying {point.id}")
    crossed = cross_check(opened.config.cross_check, opened.scratch_sections, opened.config.work)
    found = verify(point, opened.scratch, vault, tell, crossed)
    total = bytes_of(point, vault) if found.good else 0
    vault.points()
    covered = vault.tampered(point)
    if covered:  # kept beside the verdict, for `status`
        found = found.model_copy(update={"figures": {**found.figures, TARGET: {"tampered": len(covered)}}})
    vault.record(found)
    listed = vault.points()
    damaged = sum(one.state in ("damaged", "failed") for one in listed)
    good = vault.latest_verified().point
    values = metrics.verified(
        _told(opened, "verify"),
        found,
        restored_bytes=total,
        newest_good=vault.point(good.id) if good and not good.ahead else None,
        damaged=damaged,
        tampered=len(covered),
    )
    lines = [f"point {point.id} {'is good' if found.good else 'IS NOT GOOD'} ({found.seconds:.0f} s)"]
    lines += [f"- {line}" for line in found.differences]
    lines += [f"- passed over: {one.id}: {one.damage}" for one in seen]
    lines += laid_over(covered)
    facts = {
        "point": point.id,
        "good": found.good,
        "differences": list(found.differences),
        "damaged": [one.id for one in seen],
        "seconds": found.seconds,
        "figures": found.figures,
        **tampered(covered),
    }
    code = GOOD if found.good and not seen else BAD
    return Outcome(code=code, lines=lines, facts=facts, notes=list(vault.notes)), values


def _prune(options: argparse.Namespace, opened: Opened, tell: Tell) -> tuple[Outcome, metrics.Values]:
    config = opened.config
    done = prune(
        config.target,
        rule=config.retention,
        drop=tuple(options.drop),
        dry_run=options.dry_run,
        work=config.work,
        tell=tell,
    )
    kept = len(Vault.open(config.target, write=False).points())
    verb = "would delete" if options.dry_run else "deleted"
    lines = [f"{verb} {len(done.points)} points and {done.chunks} chunks ({size(done.bytes)}); {kept} points are kept"]
    facts = {
        "deleted": list(done.points),
        "chunks": done.chunks,
        "bytes": done.bytes,
        "kept": kept,
        "tampered": done.tampered,
    }
    if done.tampered:
        lines.append(
            f"TAMPERED: somebody else hid {done.tampered} objects that points need, or laid something over them; what "
            "was hidden is shown again; look for who has a key of the target (runbook recovery-verification)"
        )
    values = metrics.pruned(_told(opened, "prune"), kept=kept, tampered=done.tampered)
    return Outcome(lines=lines, facts=facts, notes=list(done.notes)), values


WORDS: Final = {"create": _create, "verify": _verify, "prune": _prune}
"""Word → what it does, and what the Pushgateway is told of it."""
