"""The checkout names no registry and no developer's machine: it is to work where those differ."""

from __future__ import annotations

import re

import pytest

from tests.offline.architecture.tree import files, name

# Each in two parts, so that this file does not hold what it looks for.
HOSTS = (
    *("proxy.golang" + ".org", "sum.golang" + ".org", "py" + "pi.org", "pythonhosted" + ".org"),
    *("deb.debian" + ".org", "registry.npmjs" + ".org"),
)
FORBIDDEN = re.compile("|".join([*map(re.escape, HOSTS), r"(?<![\w.$}>)-])/(?:work|Users)/"]))


def found(text: str) -> list[str]:
    """Forbidden words of a text."""
    return [match[0] for match in FORBIDDEN.finditer(text)]


def test_no_file_names_a_registry_or_a_developers_machine() -> None:
    texts = {name(path): path.read_text(errors="replace") for path in files()}
    assert {path: words for path, text in texts.items() if (words := found(text))} == {}


@pytest.mark.parametrize("host", HOSTS)
def test_registry_is_seen(host: str) -> None:
    assert found(f"GOPROXY=https://{host},direct") == [host]


@pytest.mark.parametrize("path", ["/wor" + "k/main/x", "see /Use" + "rs/ada/x", "'/wor" + "k/'"])
def test_path_of_a_developer_is_seen(path: str) -> None:
    assert len(found(path)) == 1


@pytest.mark.parametrize("text", ["frame/work/x", "docs/wor" + "k/", "golang.org/x/net", "/workspace/", "python.org"])
def test_other_text_is_accepted(text: str) -> None:
    assert found(text) == []
