"""Judges the rendered configuration with Jaeger itself, before anything is registered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from components.errors import DeployError
from components.tool import judge
from components.traces.names import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.rendered import Rendered

PROGRAM: Final = "jaeger-linux"


def lint(rendered: Rendered) -> None:
    """Jaeger must know every component and every key, and what one component says of another must be so.

    Raises DeployError with Jaeger's own words, or if the program is missing or does not finish.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        (directory / CONFIG_FILE).write_text(rendered.files[CONFIG_FILE], encoding="utf-8")
        judge(PROGRAM, "Jaeger", ["validate", f"--config={CONFIG_FILE}"], directory)
    found = list(complaints(yaml.safe_load(rendered.files[CONFIG_FILE])))
    if found:
        raise DeployError("the configuration of Jaeger:\n" + "\n".join(f"- {line}" for line in found))


def complaints(document: dict[str, Any]) -> Iterator[str]:
    """What Jaeger accepts and then fails at, or loses data by: it looks at each component alone."""
    backends = document["extensions"]["jaeger_storage"]["backends"]
    written = document["exporters"]["jaeger_storage_exporter"]["trace_storage"]
    asked = document["extensions"]["jaeger_query"]["storage"]["traces"]
    for who, name in (("jaeger_storage_exporter", written), ("jaeger_query", asked)):
        if name not in backends:
            yield f"{who} names storage `{name}`; accepted is {' or '.join(backends)}"
    if document["extensions"]["jaeger_query"].get("enable_tracing", True):
        yield "jaeger_query sends spans of its own past the gateway; accepted is `enable_tracing: false`"
    if written != asked:
        yield f"spans are written to `{written}` and looked for in `{asked}`; accepted is one and the same"
    for name, backend in backends.items():
        if backend.get("badger", {}).get("ephemeral", True):
            yield f"storage `{name}` does not outlive the process; accepted is badger with `ephemeral: false`"
    for name, pipeline in document["service"]["pipelines"].items():
        if "batch" in pipeline["processors"]:
            yield f"pipeline `{name}` batches, and answers for spans that are in memory alone; remove `batch`"
