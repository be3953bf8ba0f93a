"""Growth of counters that outlive the program that exposes them: the kernel's, and those of Kubernetes objects."""

from __future__ import annotations


def grew_since(selector: str, window: str, born: str, on: str) -> str:
    """True while a counter has grown within the window, including one whose object was born within it.

    `increase` needs two samples, so it misses a counter whose first sample is already 1. A new series says nothing
    here: the exporter was down, or was replaced. The age of the object says it. born: metric with the object's start,
    seconds since 1970. on: labels that name the object on both sides, comma separated.
    """
    return f"increase({selector}[{window}]) > 0\nor\n({selector} > 0 and on ({on}) time() - {born} < {window})"
