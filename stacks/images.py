"""Which image runs for which role: built here and listed in images.json, or upstream and pinned in versions.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from components.errors import DeployError
from components.images import ImagePin
from stacks.fields import ImageRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stacks.settings import Images

VERSIONS = Path(__file__).with_name("versions.toml")


class _Built(BaseModel):
    """An entry of images.json; what else stands there is for its writer."""

    model_config = ConfigDict(frozen=True, strict=True)

    reference: ImageRef
    image_id: str
    stand_in: bool = False


class _Upstream(BaseModel):
    """An entry of versions.toml."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    repository: str
    tag: str
    digest: str | None = None


_BUILT = TypeAdapter(dict[str, _Built])
_UPSTREAM = TypeAdapter(dict[str, _Upstream])


def resolve(settings: Images, roles: Sequence[str]) -> dict[str, ImagePin]:
    """Role → image, for these roles. Raises DeployError naming the file and the role that is missing."""
    if settings.source == "file":
        return _built(Path(settings.path or ""), roles)
    return upstream(VERSIONS, settings.mirror, roles)


def _built(path: Path, roles: Sequence[str]) -> dict[str, ImagePin]:
    again = "run `make up`, which builds the images and writes it"
    try:
        entries = _BUILT.validate_json(path.read_bytes())
    except OSError as error:
        raise DeployError(f"plumbline:images.path {path} cannot be read ({error.strerror}): {again}.") from error
    except ValidationError as error:
        raise DeployError(f"plumbline:images.path {path} is not a list of images: {_first(error)}; {again}.") from error
    _complete(entries, roles, f"{path}", again)
    return {role: ImagePin(**entries[role].model_dump()) for role in roles}


def upstream(path: Path, mirror: str | None, roles: Sequence[str]) -> dict[str, ImagePin]:
    """Images of versions.toml. mirror: replaces the registry's host, `quay.io/a/b` → `<mirror>/a/b`."""
    try:
        entries = _UPSTREAM.validate_python(tomllib.loads(path.read_text(encoding="utf-8")).get("images", {}))
        found = {role: _pin(entry, mirror) for role, entry in entries.items()}
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        detail = _first(error) if isinstance(error, ValidationError) else str(error)
        raise DeployError(f"{path} does not pin the images: {detail}; restore it from the repository.") from error
    _complete(found, roles, f"{path}", "add a table [images.<role>] with repository and tag")
    return {role: found[role] for role in roles}


def _pin(entry: _Upstream, mirror: str | None) -> ImagePin:
    repository = entry.repository
    if mirror is not None:
        repository = f"{mirror}/{repository.partition('/')[2]}"
    digest = f"@{entry.digest}" if entry.digest else ""
    return ImagePin(reference=TypeAdapter(ImageRef).validate_python(f"{repository}:{entry.tag}{digest}"))


def _complete(known: Iterable[str], roles: Sequence[str], where: str, fix: str) -> None:
    present = sorted(known)
    missing = [role for role in roles if role not in present]
    if missing:
        raise DeployError(
            f"{where} has no image for {', '.join(missing)}; it has {', '.join(present) or 'none'}: {fix}."
        )


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in found['loc'])}: {found['msg']}"
