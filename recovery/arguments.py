"""The command line, parsed once. A wrong word ends the program with what is accepted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_CONFIG = Path("/etc/recovery/config.json")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed words. Ends the program with 2 and what is accepted where they are wrong."""
    parser = argparse.ArgumentParser(prog="recovery", description="Take, verify and restore restore points.")
    parser.add_argument("--config", type=Path, default=DEFAULT_CONFIG, help="configuration file (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="the outcome as JSON on standard output")
    words = parser.add_subparsers(dest="word", required=True, metavar="WORD")
    _taking(words)
    _reading(words)
    _restoring(words)
    keygen = words.add_parser("keygen", help="make a recovery key; the private half goes into a file of mode 600")
    keygen.add_argument("--private", type=Path, required=True, help="file that is made for the private key")
    return parser.parse_args(arguments)


def _taking(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    create = words.add_parser("create", help="take a restore point of every store")
    create.add_argument("--mode", choices=("online", "quiesced"), default="online", help="default: %(default)s")
    create.add_argument(
        "--resend", action="store_true", help="send every chunk, for a target that lost or spoiled some"
    )
    words.add_parser("resume", help="start writers again that a killed run left stopped")
    prune = words.add_parser("prune", help="delete points and chunks that the retention no longer keeps")
    prune.add_argument("--drop", action="append", default=[], metavar="ID", help="a damaged point to delete as well")
    prune.add_argument("--dry-run", action="store_true", help="say what would go, delete nothing")


def _reading(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    words.add_parser("list", help="every restore point and what is known of it")
    words.add_parser("status", help="newest and last verified point, beside RPO and RTO; 1 if one is missed")
    verify = words.add_parser("verify", help="restore into short-lived stores and compare every figure")
    _point(verify, "--latest", "the newest point")
    secrets = words.add_parser(
        "open-secrets",
        help="decrypt the secrets of a point where the recovery key is; its configuration needs `target` alone",
    )
    _point(secrets, "--latest-verified", "the newest point that was verified")
    secrets.add_argument("--private", type=Path, required=True, help="file with the private recovery key")
    secrets.add_argument("--into", type=Path, required=True, help="empty or new directory for them, mode 700")


def _restoring(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    restore = words.add_parser("restore", help="make a copy beside what the stores hold, and compare it")
    promote = words.add_parser("promote", help="give the copies the place of what the stores hold, which is kept")
    for word in (restore, promote):
        _point(word, "--latest-verified", "the newest point that was verified")
    promote.add_argument("--force", action="store_true", help="even where the stores hold data of their own")
    others = {
        "demote": "put back what `promote` replaced",
        "confirm": "delete what `promote` replaced; there is no way back",
        "discard": "delete the copies beside",
    }
    made = {name: words.add_parser(name, help=text) for name, text in others.items()}
    for word in (restore, promote, *made.values()):
        word.add_argument("--store", action="append", default=[], help="this store alone; may be repeated")
    for word in (promote, made["demote"]):
        word.add_argument("--quiesce", action="store_true", help="stop whoever writes meanwhile, and start them again")


def _point(word: argparse.ArgumentParser, latest: str, text: str) -> None:
    choice = word.add_mutually_exclusive_group(required=True)
    choice.add_argument(latest, dest="latest", action="store_true", help=text)
    choice.add_argument("--point", help="this point, as `list` names it")
