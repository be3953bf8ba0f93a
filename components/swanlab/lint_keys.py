"""Rules about keys: a value that no template reads is silently ignored by Helm."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

from components.swanlab.finding import Context, Finding, Values, at

if TYPE_CHECKING:
    from collections.abc import Iterator

RENAMED: Final = {
    "global.settings.loginHost": "global.settings.host",
    "env.loginHost": "global.settings.host",
    "imagePullSecrets": "global.imagePullSecrets",
    "helper.repository": "helper.image.repository",
    "helper.tag": "helper.image.tag",
    "helper.pullPolicy": "helper.image.pullPolicy",
}
"""Key of an older chart → key of this one."""
REMOVED: Final = {
    "ingress": "the chart brings no Ingress since 0.3; put one of your own before its gateway",
    "traefik": "the chart brings no sub-chart since 0.2; see gateway",
    **dict.fromkeys(
        ("service.house.persistence", "service.house.logImage", "service.house.fbImage", "service.house.logResources"),
        "the house has neither side containers nor a claim since 0.4",
    ),
    "service.house.fbResources": "the house has neither side containers nor a claim since 0.4",
    **dict.fromkeys(
        (f"service.{name}.replicaCount" for name in ("server", "house", "cloud", "next")), "the key is `replicas`"
    ),
}
"""Key of an older chart → why this one has none."""
FREE: Final = ("resources", "customPodAnnotations")
"""Keys below which Kubernetes decides what is known."""


def renamed_keys(values: Values, _: Context) -> Iterator[Finding]:
    """Keys of values files that were written for an older chart."""
    for old, new in RENAMED.items():
        if at(values, old) is not None:
            yield Finding(
                code="renamed-key",
                message=f"`{old}` is a key of an older chart, which this one ignores; accepted: `{new}`; fix: that",
            )
    for old, why in REMOVED.items():
        if at(values, old) is not None:
            yield Finding(code="renamed-key", message=f"`{old}` is a key of an older chart: {why}; fix: remove it")


def unknown_keys(values: Values, context: Context) -> Iterator[Finding]:
    """Keys that the chart's own values do not have. An empty object or list there may hold anything."""
    if context.known is not None:
        yield from _unknown(values, context.known, "")


def _unknown(given: Values, known: Values, above: str) -> Iterator[Finding]:
    for key, value in given.items():
        path = f"{above}{key}"
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
            hint = f"did you mean `{above}{near[0]}`? " if near else ""
            yield Finding(
                code="unknown-key",
                message=f"`{path}` is not known to the chart, which would ignore it; {hint}accepted there: "
                f"{', '.join(sorted(known))}; fix: another chart version, or components/swanlab/values.py",
            )
        elif isinstance(value, dict) and value and key not in FREE:
            yield from _below(value, known[key], path)


def _below(value: Values, known: Any, path: str) -> Iterator[Finding]:  # noqa: ANN401  # values hold anything
    if isinstance(known, dict):
        yield from _unknown(value, known, f"{path}.") if known else ()
    elif known is not None:
        kind = type(known).__name__
        yield Finding(
            code="unknown-key", message=f"`{path}` is an object, and the chart has {kind} there; fix: values.py"
        )
