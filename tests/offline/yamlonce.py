"""The same YAML is read and written once per process: in Python that takes most of the time of rendering a stack.

Reading a text and writing plain data have one result each. Every caller gets a copy of what was read, and what is
written is found by all that it was made of, types and shared parts included: nothing else than the library's answer.
Documents that differ in a setting still have most of their long texts in common, so those are looked at once as well.
"""

from __future__ import annotations

import hashlib
import pickle
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final

import yaml
from yaml.emitter import Emitter

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.emitter import ScalarAnalysis

_MOST: Final = 4096
"""Texts that are kept of each kind: more than there are stacks, few enough for the memory."""


def install() -> None:
    """For this process, until it ends."""
    yaml.safe_load = _read_once(yaml.safe_load)  # type: ignore[assignment]  # of the same use, told more loosely
    yaml.dump = _written_once(yaml.dump)
    yaml.safe_dump = _written_once(yaml.safe_dump)
    Emitter.analyze_scalar = analysed_once(Emitter.analyze_scalar)  # type: ignore[assignment]  # of the same use


def _read_once(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @lru_cache(_MOST)
    def kept(text: str) -> bytes:
        return pickle.dumps(read(text))

    @wraps(read)
    def once(stream: Any) -> Any:  # noqa: ANN401  # whatever YAML holds
        if type(stream) is not str:
            return read(stream)
        return pickle.loads(kept(stream))  # noqa: S301  # of our own making

    return once


def _written_once(write: Callable[..., Any]) -> Callable[..., Any]:
    texts: dict[bytes, Any] = {}

    @wraps(write)
    def once(data: object, stream: Any = None, **how: Any) -> Any:  # noqa: ANN401  # as the library has it
        if stream is not None:
            return write(data, stream, **how)
        try:
            made_of = pickle.dumps((data, how))
        except (pickle.PicklingError, AttributeError, TypeError):
            return write(data, **how)
        key = hashlib.sha256(made_of).digest()
        if key not in texts:
            if len(texts) >= _MOST:
                texts.clear()
            texts[key] = write(data, **how)
        return texts[key]

    return once


def analysed_once(analyse: Callable[[Emitter, str], ScalarAnalysis]) -> Callable[[Emitter, str], ScalarAnalysis]:
    """Styles that a text may have: they follow from it and from one setting, and the emitter only reads them."""
    found: dict[tuple[str, bool], ScalarAnalysis] = {}

    @wraps(analyse)
    def once(emitter: Emitter, scalar: str) -> ScalarAnalysis:
        key = (scalar, bool(emitter.allow_unicode))
        if key not in found:
            if len(found) >= _MOST:
                found.clear()
            found[key] = analyse(emitter, scalar)
        return found[key]

    return once
