"""A figure as a piece of a page: SVG whose names clash with no other's and whose ink is the page's own."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as Xml

import matplotlib as mpl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

INK: Final = "#010203"
"""Becomes the colour of the page's text: dark on light, light on dark, black on paper."""
_SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "plumbline",
    # A label is text, never a formula.
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 12.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
}
_NAMESPACE: Final = re.compile(r"^\{[^}]*\}")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_DROPPED: Final = ("metadata", "style")
"""Dates and addresses, and rules that would reach the whole page."""


@contextmanager
def drawing() -> Iterator[None]:
    """Settings under which figures are made and written; nobody else's settings count, and theirs come back."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def inline(figure: Figure, prefix: str, label: str) -> str:
    """The figure as an `svg` element. The same figure gives the same text.

    prefix: of every id in it. label: what it shows, for whoever cannot see it.
    """
    written = StringIO()
    with warnings.catch_warnings():
        # Whoever reads the page has other fonts: the text stays text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    root = Xml.fromstring(written.getvalue())  # noqa: S314  # our own drawing  # written a line above
    _clean(root, prefix)
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": view, "role": "img", "aria-label": label})
    return Xml.tostring(root, encoding="unicode")


def _clean(element: Xml.Element, prefix: str) -> None:
    """Without namespaces, since HTML has its own for SVG; ids and what refers to them renamed."""
    element.tag = _NAMESPACE.sub("", element.tag)
    element.attrib.update({_NAMESPACE.sub("", name): element.attrib.pop(name) for name in list(element.attrib)})
    for name, value in element.attrib.items():
        element.attrib[name] = _value(name, value, prefix)
    for child in list(element):
        if _NAMESPACE.sub("", child.tag) in _DROPPED:
            element.remove(child)
        else:
            _clean(child, prefix)


def _value(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return f"{prefix}{value}"
    if name == "href":
        return f"#{prefix}{value.removeprefix('#')}"
    return _REFERENCE.sub(rf"url(#{prefix}\1)", value).replace(INK, "currentColor")
