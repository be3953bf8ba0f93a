"""What of the checkout a program needs in its image: its own package, and the modules that this imports."""

from __future__ import annotations

import ast
import hashlib
from typing import TYPE_CHECKING

from sandbox.errors import SandboxError
from sandbox.images.layers import CODE_ROOT, Layer, directories, key
from sandbox.images.oci import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def layer(checkout: Path, module: str) -> Layer:
    """The code of `python3 -m <module>`, below /opt/plumbline. The content itself is the key.

    Nothing else of the checkout is in it, so that no other change gives the program a new image, and so a restart.
    """
    contents = {path: (checkout / path).read_bytes() for path in files(checkout, module)}
    entries = (
        *directories(f"{CODE_ROOT}/{path}" for path in contents),
        *(Entry(f"{CODE_ROOT}/{path}", 0o644, content=content) for path, content in contents.items()),
    )
    digests = (part for path, content in contents.items() for part in (path, hashlib.sha256(content).hexdigest()))
    return Layer(key("code", CODE_ROOT, *digests), entries)


def files(checkout: Path, module: str) -> list[str]:
    """Paths below the checkout, in order: modules of ours, and the data that lies in their packages.

    A package that is started comes whole, since it may load its modules by name. Raises SandboxError: no such module,
    or a link.
    """
    top = checkout / module.replace(".", "/")
    if not top.is_dir() and _file(checkout, module) is None:
        raise SandboxError(f"the checkout has no module {module}", "correct the role in sandbox/images/roles.py")
    front = set(_above(module)) | {_name(checkout, path) for path in top.rglob("*.py") if _is_module(path, top)}
    seen: set[str] = set()
    while front:
        seen |= front
        front = {name for known in front for name in _imported(checkout, known)} - seen
    modules = {path for name in seen if (path := _file(checkout, name)) is not None}
    packages = {path.parent for path in modules if path.name == "__init__.py"}
    # A room of the checkout holds much besides: what lies loose in it is nobody's data, unless the room is the program.
    owners = {path for path in packages if path.parent != checkout or path == top}
    found = modules | {path for package in owners for path in _data(package)}
    for path in found:
        _refuse_link(checkout, path)
    return sorted(path.relative_to(checkout).as_posix() for path in found)


def _imported(checkout: Path, module: str) -> Iterator[str]:
    """Modules of ours that a module may import while it runs, with the packages above them."""
    path = _file(checkout, module)
    if path is None:
        return
    _refuse_link(checkout, path)
    for name in _names(ast.parse(path.read_bytes(), str(path))):
        yield from (above for above in _above(name) if _file(checkout, above) is not None)


def _names(node: ast.AST) -> Iterator[str]:
    """Dotted names of import statements anywhere in the tree, but for those that only the type checker sees."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    else:
        children: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            children = list(node.orelse)
        for child in children:
            yield from _names(child)


def _refuse_link(checkout: Path, path: Path) -> None:
    if path.is_symlink():
        raise SandboxError(
            f"{path.relative_to(checkout)} is a link; an image takes files alone", "put the file itself there"
        )


def _above(module: str) -> list[str]:
    """A dotted name and every package above it."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _file(checkout: Path, module: str) -> Path | None:
    path = checkout / module.replace(".", "/")
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


def _name(checkout: Path, path: Path) -> str:
    parts = path.relative_to(checkout).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_module(path: Path, top: Path) -> bool:
    """Whether a file below a package is a module of it, and not a script among its data."""
    between = [top / above for above in path.relative_to(top).parents]
    return all((directory / "__init__.py").exists() for directory in between)


def _data(package: Path) -> Iterator[Path]:
    """Files of a package that are not modules: beside its modules, and in directories that are no packages."""
    for path in package.iterdir():
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir() and not path.is_symlink():
            # A chart deploys the program and is not read by it.
            if not any((path / name).exists() for name in ("__init__.py", "Chart.yaml")):
                yield from _data(path)
        elif path.suffix not in (".py", ".pyc", ".pyi"):
            yield path
