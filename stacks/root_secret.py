"""The root secret of a stack, from which passwords that nobody chose are derived, and the settings that name it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi
from pydantic import Field, SecretStr

from components.errors import DeployError
from components.secrets import MIN_ROOT_BYTES, ROOT, fingerprint
from stacks.fields import Text
from stacks.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stacks.settings import Settings

_MAKE = "python3 -c 'import secrets; print(secrets.token_hex(32))'"
_BACK = "put it back from a copy; a new one would lock the stack out of its own databases"


class Secrets(Section):
    """Where the root secret is. It belongs into every copy of the stack's state: what it made is in the volumes."""

    root: SecretStr | None = Field(
        default=None, description="the root secret itself, set with --secret, 32 bytes or more"
    )
    root_file: Text | None = Field(default=None, description="instead: path of a file that holds it")


def one_root(settings: Settings) -> Iterator[str]:
    """Not two: only one of them would be used, and the other might be the one that the databases know."""
    if settings.secrets.root is not None and settings.secrets.root_file is not None:
        yield (
            f"stack {settings.stack} has both plumbline:secrets.root and plumbline:secrets.root_file; accepted: one of "
            "them; fix: keep the one that the stack was deployed with, and pulumi config rm --path the other"
        )


def check_root_secret(settings: Settings) -> None:
    """Raises DeployError unless the root secret is there and long enough."""
    _read(settings)


def check_same_root(settings: Settings, namespace: str, live: Mapping[str, dict[str, Any]]) -> None:
    """Another root secret is long enough as well, and every password that a database knows would be another.

    live: claims of the stack in a namespace, by name. Those without data, or from before there was a fingerprint,
    are not judged. Raises DeployError.
    """
    told = {
        name: known
        for name, item in live.items()
        if (known := (item["metadata"].get("annotations") or {}).get(ROOT))
        and (item.get("status") or {}).get("phase") == "Bound"
    }
    others = sorted(name for name, known in told.items() if known != fingerprint(_read(settings)))
    if others:
        raise DeployError(
            f"the root secret of stack {settings.stack} is not the one that the data in {namespace} knows (claims "
            f"{' '.join(others)}): with the passwords that follow from it nobody would be let in; nothing was changed; "
            f"accepted: the one that the stack was deployed with; fix: {_BACK}. If all passwords were changed by hand: "
            f"kubectl -n {namespace} annotate pvc {' '.join(others)} {ROOT}-"
        )


def root_secret(settings: Settings) -> pulumi.Output[str]:
    """The root secret, as a secret of Pulumi. Raises DeployError when there is none."""
    return pulumi.Output.secret(_read(settings))


def _read(settings: Settings) -> str:
    wanted = settings.secrets
    if wanted.root is not None:
        return _long_enough("plumbline:secrets.root", wanted.root.get_secret_value().strip())
    if wanted.root_file is None:
        raise DeployError(
            f"stack {settings.stack} derives passwords and has no root secret; nothing was changed; fix: {_MAKE} | "
            f"pulumi config set --secret --path 'plumbline:secrets.root' --stack {settings.stack}, and keep a copy: "
            "without it a restored database lets nobody in"
        )
    place = f"plumbline:secrets.root_file {wanted.root_file}"
    try:
        return _long_enough(place, Path(wanted.root_file).read_text(encoding="utf-8").strip())
    except OSError as error:
        raise DeployError(f"{place} cannot be read ({error.strerror}); nothing was changed; fix: {_BACK}") from error
    except UnicodeDecodeError:
        # Its message shows bytes of the secret, hence without it.
        raise DeployError(f"{place} is no text in UTF-8; nothing was changed; fix: {_BACK}") from None


def _long_enough(place: str, root: str) -> str:
    length = len(root.encode())
    if length < MIN_ROOT_BYTES:
        raise DeployError(
            f"{place} has {length} bytes; accepted: {MIN_ROOT_BYTES} or more; nothing was changed; fix: {_BACK}. For a "
            f"stack that was never deployed, make one: {_MAKE}"
        )
    return root
