"""The Makefile and the program behind it know the same words."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from cli.words import _parse

if TYPE_CHECKING:
    from collections.abc import Mapping

MAKEFILE = (ROOT / "Makefile").read_text()
# Word → the command line behind it, for every rule but `help`.
RULES: Mapping[str, str] = dict(re.findall(r"^([a-z-]+):.*\n\t@\$\(PLUMBLINE\) (.*)$", MAKEFILE, re.M))
PHONY = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M)[0].split()


def expand(line: str) -> list[str]:
    """A command line with make's defaults in place."""
    defaults = dict(re.findall(r"^(\w+) \?= (\S+)$", MAKEFILE, re.M))
    return re.sub(r"\$\((\w+)\)", lambda found: defaults[found[1]], line).split()


def verbs(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Words that the program accepts, by its own complaint about another."""
    with pytest.raises(SystemExit):
        _parse(["no-such-word"])
    listed = re.search(r"choose from (.*)\)", capsys.readouterr().err)
    assert listed is not None
    return set(re.findall(r"[a-z-]+", listed[1]))


def test_every_word_has_a_rule_that_is_no_file() -> None:
    assert set(PHONY) == {"help", *RULES}


def test_words_of_makefile_and_program_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs(capsys) == set(RULES)


@pytest.mark.parametrize("word", sorted(RULES))
def test_command_line_of_each_word_is_accepted(word: str) -> None:
    assert _parse(expand(RULES[word])).verb == word


@pytest.mark.parametrize("word", sorted({"help", *RULES}))
def test_every_word_is_explained(word: str) -> None:
    assert re.search(rf"^{word}: ## \S+ \S+", MAKEFILE, re.M)


def test_make_alone_lists_every_word() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"^  make ([a-z-]+) +\S", done.stdout, re.M) == PHONY


@pytest.mark.parametrize("word", ["up", "down", "clean", "status", "smoke", "prove", "preview"])
def test_stack_of_the_command_line_is_passed_on(word: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", word, "STACK=prod"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"bin/plumbline {word} --stack prod" in done.stdout


def test_default_stack_is_the_embedded_cluster() -> None:
    assert _parse(["up"]).stack == "local"


@pytest.mark.parametrize("line", [["clean", "--cache", "yes"], ["bench", "--cold", "2"], ["up", "--force"], []])
def test_wrong_option_is_a_usage_error(line: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _parse(line)
    assert caught.value.code == 2
