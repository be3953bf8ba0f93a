"""Commands of the documentation are classified, and the offline ones do what the page shows."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from cli.engine import ROOT
from stacks.settings import parse
from tests.offline.docs.commands import (
    Example,
    classify,
    complaints,
    console,
    elsewhere,
    example,
    examples,
    first_missing,
    live_commands,
)
from tests.offline.docs.markdown import Block, blocks
from tests.offline.stacks.examples import STACKS, as_pulumi_has_it, completed, write_images

LANGUAGES = {"console", "yaml", "text"}


def block(marker: str | None, *lines: str) -> Block:
    return Block(page="x.md", line=1, language="console", marker=marker, lines=lines)


def test_command_that_ran_before_is_not_run_again_while_nothing_came_between() -> None:
    before = {"make up": "proven\n", "false": "never asked\n"}
    marked = block("offline", "$ make up", "$ echo second", "proven", "second")
    assert complaints(example(marked), printed=before) == []
    assert "'another'" in complaints(example(block("offline", "$ make up", "another")), printed=before)[0]
    assert "exit code 1" in complaints(example(block("offline", "$ true", "$ false")), printed=before)[0]


def test_every_block_has_a_language_that_the_tests_know() -> None:
    assert [(b.where, b.language) for b in blocks() if b.language not in LANGUAGES] == []


def test_every_console_block_is_classified() -> None:
    assert [found for b in console() if (found := classify(b))] == []


@pytest.mark.parametrize(
    ("marker", "lines"),
    [
        (None, ["$ make"]),
        ("sometimes", ["$ make"]),
        ("shown", ["$ make"]),
        ("live", ["$ make up"]),
        ("offline name", ["$ make"]),
        ("offline", ["make"]),
    ],
)
def test_a_block_that_is_not_classified_is_seen(marker: str | None, lines: list[str]) -> None:
    assert classify(block(marker, *lines))


@pytest.mark.parametrize("wanted", examples("offline"), ids=lambda e: e.where)
def test_offline_block_does_what_the_page_shows(wanted: Example) -> None:
    assert complaints(wanted) == []


def test_live_blocks_have_unique_names_and_the_first_one_starts_the_stack() -> None:
    found = live_commands()
    assert len({e.name for e in found}) == len(found)
    assert found[0].commands == ("make up",)


def test_another_exit_code_is_seen() -> None:
    assert "exit code 3, the page says 0" in complaints(example(block("offline", "$ exit 3")))[0]
    assert complaints(example(block("offline exit=3", "$ exit 3"))) == []


def test_a_failure_before_the_last_command_is_seen() -> None:
    assert complaints(example(block("offline", "$ false", "$ true")))


def test_commands_share_one_shell_and_may_run_over_lines() -> None:
    wanted = example(block("offline", "$ a=1", "$ echo $a \\", "> 2", "1 2"))
    assert complaints(wanted) == []


def test_a_command_that_does_not_end_is_seen() -> None:
    assert "did not end" in complaints(example(block("offline", "$ sleep 5")), timeout=0.2)[0]


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        (["a", "c"], None),
        (["c", "a"], "a"),
        (["a", "…", "d 4"], None),
        (["b…2"], None),
        (["b…3"], "b…3"),
        (["b"], "b"),
        (["d    4"], None),
        (["e"], "e"),
    ],
)
def test_shown_lines_must_be_printed_in_order(wanted: list[str], missing: str | None) -> None:
    assert first_missing(wanted, ["a", "b 1 2", "c", "d  4"]) == missing


def test_live_blocks_can_run_on_another_state() -> None:
    text = "cat .out/local/report.json state/local/kubeconfig .out/local-x"
    assert elsewhere(text, "test") == "cat .out/test/report.json state/test/kubeconfig .out/local-x"
    assert elsewhere(text, None) == text


@pytest.mark.parametrize("found", [b for b in blocks() if b.language == "yaml"], ids=lambda b: b.where)
def test_settings_on_a_page_are_accepted(found: Block, tmp_path_factory: pytest.TempPathFactory) -> None:
    kind, _, rest = (found.marker or "").partition(" ")
    assert kind == "settings", f"{found.where}: a yaml block names the stack that it is laid over: test: settings STACK"
    stack, _, without = rest.partition(" without ")
    assert stack in STACKS
    shown = yaml.safe_load("\n".join(found.lines))["config"]
    images = write_images(tmp_path_factory.mktemp("images") / "images.json")
    below = completed(stack, images)
    if without:
        del below[without]
    parse(stack, as_pulumi_has_it(_laid_over(below, shown)))


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _laid_over(below.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def test_words_on_the_front_page_are_those_of_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = [line.split(":")[0] for line in text.splitlines() if " ## " in line]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line.split("`")[1] for line in readme.splitlines() if line.startswith("| `make ")]
    assert sorted(rows) == sorted(f"make {word}" for word in listed)


def test_stacks_on_the_front_page_are_those_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = readme[readme.index("## Stacks") : readme.index("## Words")].splitlines()
    assert sorted(line.split("`")[1] for line in rows if line.startswith("| `")) == sorted(STACKS)
