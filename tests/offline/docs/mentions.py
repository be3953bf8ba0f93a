"""Everything that a page names must exist. Each rule takes a page and returns what it names in vain."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

from smoke.registry import CHECK_IDS
from tests.offline.docs import names
from tests.offline.docs.markdown import ROOT, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.offline.docs.markdown import Page

_WORD = re.compile(r"(?<![\w./-])make ([a-z][\w-]*)((?: +[A-Z]+=[\w-]+)*)")
_STACK = re.compile(r"(?:\bSTACK=|--stack[ =]|-s )([a-z][\w-]*)")
_SETTING = re.compile(r"plumbline:[a-z][\w.:\[\]]*")
_AREAS = "|".join(sorted({check_id.partition(".")[0] for check_id in CHECK_IDS}))
_CHECK = re.compile(rf"(?<![\w.:/-])(?:{_AREAS})\.[a-z][a-z_]+(?![\w.(])")
_METRIC = re.compile(
    r"(?<![\w:./-])(?:(?:prometheus|kubelet|apiserver|container|alertmanager|pushgateway|push|node|kube)_[A-Za-z][A-Za-z0-9_]+"
    r"|DCGM_(?:FI|EXP)_[A-Z0-9_]*[A-Z0-9])(?![\w*:-])"
)
_RECORD = re.compile(r"(?<![\w:./-])(?!system:)[a-z]+:[a-z][a-z0-9_]+:[a-z0-9_]+")
_VARIABLE = re.compile(r"\bPLUMBLINE_[A-Z_]+")
_MACHINE = re.compile(r"(?<![\w.])/(?:var|run|sys|proc)/[\w./-]+")
_TEST = re.compile(r"\btest_[a-z]\w+(?!\w|\.py)")
_TOP = re.compile(r"(?<![\w/$}-])(?:\./)?(\.?[\w-]+)/[\w.<>*{},/-]*")
_FILE = re.compile(rf"(?<![\w./<>*{{}},$-])[\w-]+(?:\.[\w-]+)*\.(?:{'|'.join(names.SUFFIXES)})(?![\w/-])")
_HOME = re.compile(r"\$PLUMBLINE_HOME/([\w./<>-]+)")
_STANDARD_HOME = "/var/lib/plumbline/"
_LANGUAGES = ("console", "yaml", "text")


def mentioned(page: Page) -> list[Found]:
    """Code spans, and lines of blocks that people copy from.

    A block that expects a failure may name what does not exist: that is its point.
    """
    lines = [
        Found(page=page.path, line=block.line + number, text=line)
        for block in page.blocks
        if block.language in _LANGUAGES and "exit=" not in (block.marker or "")
        for number, line in enumerate(block.lines, 1)
    ]
    return page.spans() + lines


def words(page: Page) -> Iterator[str]:
    """Words of the Makefile and the variables given to them."""
    for found in mentioned(page):
        for word, given in _WORD.findall(found.text):
            if word not in names.words():
                yield f"{found.where}: the Makefile has no word `{word}`"
            for variable in re.findall(r"([A-Z]+)=", given):
                if variable not in names.variables():
                    yield f"{found.where}: the Makefile has no variable `{variable}`"


def stacks(page: Page) -> Iterator[str]:
    """Stacks named in commands."""
    for found in mentioned(page):
        for name in _STACK.findall(found.text):
            if name not in names.stacks():
                yield f"{found.where}: there is no stack `{name}`"


def settings(page: Page) -> Iterator[str]:
    """Settings, with their prefix."""
    for found in mentioned(page):
        for key in _SETTING.findall(found.text):
            if not names.is_setting(key.rstrip(".:")):
                yield f"{found.where}: there is no setting `{key}`"


def checks(page: Page) -> Iterator[str]:
    """Ids of checks: whatever looks like `area.name` with an area of the registry."""
    for found in mentioned(page):
        for check_id in _CHECK.findall(found.text):
            if check_id not in CHECK_IDS and check_id.rpartition(".")[2] not in names.SUFFIXES:
                yield f"{found.where}: there is no check `{check_id}`"


def metrics(page: Page) -> Iterator[str]:
    """Metrics of the producers that the catalogue describes."""
    for found in page.spans():
        for name in _METRIC.findall(found.text):
            if not (names.is_metric(name) or name in names.other_words()):
                yield f"{found.where}: the catalogue has no metric `{name}`"


def recorded(page: Page) -> Iterator[str]:
    """Recorded series, `level:metric:operation`."""
    for found in mentioned(page):
        for name in _RECORD.findall(found.text):
            if name not in names.recorded():
                yield f"{found.where}: no rule records `{name}`"


def variables(page: Page) -> Iterator[str]:
    """Environment variables of ours."""
    for found in mentioned(page):
        for name in _VARIABLE.findall(found.text):
            if not names.is_spelt(name):
                yield f"{found.where}: no code reads `{name}`"


def tests(page: Page) -> Iterator[str]:
    """Tests named as proof."""
    for found in mentioned(page):
        for name in _TEST.findall(found.text):
            if name not in names.tests() and not names.is_file_of_tests(name):
                yield f"{found.where}: there is no test `{name}`"


def paths(page: Page) -> Iterator[str]:
    """Files and directories of the checkout; `<x>` and `*` stand for any name, `{a,b}` for each of them."""
    top = {path.name for path in ROOT.iterdir()}
    for found in mentioned(page):
        for hit in _TOP.finditer(found.text):
            named = hit[0].removeprefix("./").rstrip(".,")
            if hit[1] == ".out":
                if not _is_written(named):
                    yield f"{found.where}: nothing writes `{named}`"
            elif hit[1] in top and not all(_exists(one) for one in _each(named)):
                yield f"{found.where}: there is no `{named}`"
        for file in _FILE.findall(found.text):
            if not (names.is_file(file) or names.is_spelt(file)):
                yield f"{found.where}: there is no file `{file}`, and no code writes one"


def machine(page: Page) -> Iterator[str]:
    """Paths of the machine: in PLUMBLINE_HOME, and those that cannot move."""
    for found in mentioned(page):
        for path in _MACHINE.findall(found.text):
            named = path.rstrip("./")
            inside = named.removeprefix("/var/lib/plumbline") if f"{named}/".startswith(_STANDARD_HOME) else named
            if not (_in_home(inside) if inside != named else names.is_fixed(named)):
                yield f"{found.where}: no code knows `{named}`"
        for inside in _HOME.findall(found.text):
            if not _in_home(inside):
                yield f"{found.where}: no code knows `$PLUMBLINE_HOME/{inside}`"


def _in_home(path: str) -> bool:
    """Every part is one that the code joins to a path, or stands for the name of a state."""
    parts = [part for part in path.strip("/.").split("/") if part and not part.startswith("<")]
    return all(part in names.stacks() or part in names.parts_of_paths() for part in parts)


def _is_written(path: str) -> bool:
    file = path.rstrip("/").rsplit("/", 1)[-1]
    options = _each(file)
    return "." not in file or file == ".out" or all(names.is_spelt(one) for one in options)


def _each(pattern: str) -> list[str]:
    """`a.{b,c}` → `a.b`, `a.c`."""
    parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
    return ["".join(choice) for choice in product(*parts)] if "{" in pattern else [pattern]


def _exists(path: str) -> bool:
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    return any(ROOT.glob(pattern))


RULES: tuple[Callable[[Page], Iterator[str]], ...] = (
    words,
    stacks,
    settings,
    checks,
    metrics,
    recorded,
    variables,
    tests,
    paths,
    machine,
)
