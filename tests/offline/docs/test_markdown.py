"""What the other tests rely on: the parser sees what a reader sees."""

from __future__ import annotations

import pytest

from tests.offline.docs.markdown import parse

PAGE = """# One `code` title

Text with `a span
over lines` and [a link](x.md#y), not `[this](z.md)`.

<!-- test: offline -->
```console
$ make
```

```text
[no](link.md) `no span`
```

| Message | Do |
| --- | --- |
| `first` | one |
| `second` | two |

| Other | x |
| --- | --- |
| `third` | y |

## One code title
"""


def test_blocks_have_their_markers_and_lines() -> None:
    found = parse("x.md", PAGE).blocks
    assert [(b.line, b.language, b.marker, b.lines) for b in found] == [
        (7, "console", "offline", ("$ make",)),
        (11, "text", None, ("[no](link.md) `no span`",)),
    ]


def test_a_marker_stands_right_above_its_block() -> None:
    assert parse("x.md", "<!-- test: offline -->\n\n```console\n```\n").blocks[0].marker is None


def test_blocks_in_lists_lose_their_indentation() -> None:
    assert parse("x.md", "- a\n  ```text\n  b\n    c\n  ```\n").blocks[0].lines == ("b", "  c")


def test_spans_keep_their_line_and_may_run_over_one() -> None:
    found = [(s.line, s.text) for s in parse("x.md", PAGE).spans()]
    assert found[:3] == [(1, "code"), (3, "a span over lines"), (4, "[this](z.md)")]
    assert "no span" not in [text for _, text in found]


def test_links_are_those_outside_code() -> None:
    assert [(s.line, s.text) for s in parse("x.md", PAGE).links()] == [(4, "x.md#y")]


def test_anchors_are_those_of_the_web_site() -> None:
    assert parse("x.md", PAGE).anchors() == {"one-code-title", "one-code-title-1"}


def test_rows_are_found_by_the_head_of_their_table() -> None:
    rows = parse("x.md", PAGE).tables("Message")
    assert [[cell.text for cell in row] for row in rows] == [["`first`", "one"], ["`second`", "two"]]


def test_a_fence_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"x\.md:2: a fence is opened"):
        parse("x.md", "a\n```console\n$ make\n")
