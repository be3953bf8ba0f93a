"""A report on paper: one page without network or scripts, Markdown for a ticket, JSON for machines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from smoke.redact import redact

if TYPE_CHECKING:
    from smoke.run_evidence.report import Report, Table

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def write(report: Report, out: Path, name: str) -> list[Path]:
    """Write all three; a reader sees the old or the new one, never half of it. name: without a suffix."""
    out.mkdir(parents=True, exist_ok=True)
    document = json.dumps(_redacted(report.document()), indent=2, ensure_ascii=False) + "\n"
    texts = {"html": html(report), "json": document, "md": markdown(report)}
    for suffix, text in texts.items():
        new = out / f".{name}.{suffix}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(out / f"{name}.{suffix}")
    return [out / f"{name}.{suffix}" for suffix in texts]


def file_name(*parts: str) -> str:
    """A name of a file, whatever a run is called."""
    return "-".join(["evidence", *(re.sub(r"[^A-Za-z0-9._-]+", "_", part) for part in parts)])[:200]


def html(report: Report) -> str:
    """The page. Everything that comes from outside is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["redact"] = redact
    return environment.get_template("page.html.j2").render(report=report)


def markdown(report: Report) -> str:
    """For a ticket."""
    lines = [f"# {plain(report.title)}: {report.verdict}", ""]
    lines += [f"- **{plain(one.text)}**" for one in report.findings] or [f"{plain(report.headline)}."]
    if report.unseen:
        lines += ["", "Not looked at:", ""]
        lines += [f"- {plain(one.what)}: {plain(one.why)}{_weight(essential=one.essential)}" for one in report.unseen]
    lines += ["", "Looked at:", "", *(f"- {plain(one)}" for one in report.looked), ""]
    lines += [f"- {plain(name)}: {plain(text)}" for name, text in report.facts]
    for table in report.tables:
        lines += ["", f"## {plain(table.title)}", "", *_table(table)]
    return "\n".join([*lines, "", f"Stack {plain(report.stack)}, {plain(report.made)}.", ""])


def plain(text: str) -> str:
    """Text from outside, without a meaning in Markdown or HTML, on one line, and without secrets."""
    return _SPECIAL.sub(r"\\\1", " ".join(redact(text).split()))


def _redacted(found: Any) -> Any:  # noqa: ANN401  # any JSON
    """Text by text: over the whole, a pattern could take quotes and commas with it."""
    if isinstance(found, dict):
        return {redact(key): _redacted(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_redacted(one) for one in found]
    return redact(found) if isinstance(found, str) else found


def _table(table: Table) -> list[str]:
    rows = [f"| {' | '.join(plain(cell) for cell in row)} |" for row in table.rows]
    head = [f"| {' | '.join(table.head)} |", f"|{' --- |' * len(table.head)}"] if rows else []
    return [
        *head,
        *rows,
        *(["", plain(table.note)] if table.note and rows else [plain(table.note)] if table.note else []),
    ]


def _weight(*, essential: bool) -> str:
    return " (essential)" if essential else ""
