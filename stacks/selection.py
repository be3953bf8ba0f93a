"""Whether a Prometheus of the operator takes what it is given, and as it is: pure functions over its object.

A monitor that no Prometheus selects is no error to Kubernetes nor to the operator: there is just no target, and a
rule that compares with 0 never fires.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from components.existing_prometheus.names import POD_MONITOR, PROMETHEUS_RULE, SCRAPE_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
KEY: Final = "plumbline:existing_prometheus"
_SELECTORS: Final = {POD_MONITOR: "podMonitor", SCRAPE_CONFIG: "scrapeConfig", PROMETHEUS_RULE: "rule"}
_RESOURCES: Final = {POD_MONITOR: "podmonitors", SCRAPE_CONFIG: "scrapeconfigs", PROMETHEUS_RULE: "prometheusrules"}


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a Prometheus is given.

    kinds: of the objects. labels: that all of them have. namespace, namespace_labels: where they lie. external: label
    that is set on every series → its value. honors, stamps: some producer's own labels, own timestamps must win.
    elsewhere: namespaces of pods other than `namespace`. samples: the largest limit of a scrape. alertmanager: name of
    the Service in `namespace` that must be told what fires, None for none.
    """

    kinds: tuple[str, ...]
    labels: dict[str, str]
    namespace: str
    namespace_labels: dict[str, str]
    external: dict[str, str]
    honors: bool
    stamps: bool
    elsewhere: tuple[str, ...]
    samples: int
    alertmanager: str | None


def matches(selector: Json | None, labels: dict[str, str]) -> bool:
    """Whether a label selector of Kubernetes selects: without a selector nothing, with an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(expression, labels) for expression in expressions
    )


def told(selector: Json) -> str:
    """A selector as `kubectl get -l` takes it."""
    parts = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], ", ".join(expression.get("values") or ())
        forms = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        parts.append(forms.get(expression["operator"], f"!{key}"))
    return ",".join(parts)


def problems(prometheus: Json, given: Given) -> list[str]:
    """One sentence per reason why what is given would be ignored or changed: what, and what to do."""
    spec = prometheus.get("spec") or {}
    home = prometheus["metadata"]["namespace"]
    return [
        *(["is paused, and the operator changes nothing of it; fix: spec.paused false"] if spec.get("paused") else ()),
        *(problem for kind in given.kinds for problem in _selected(kind, spec, home, given)),
        *_enforced(spec, given),
        *_overridden(spec, given),
        *_external(spec, given),
        *_alerting(spec, given),
    ]


def _holds(expression: Json, labels: dict[str, str]) -> bool:
    """A value of a label that is not there is in no list: `NotIn` holds then, as in Kubernetes."""
    there, values = labels.get(expression["key"]), expression.get("values") or ()
    return {
        "In": there is not None and there in values,
        "NotIn": there is None or there not in values,
        "Exists": there is not None,
        "DoesNotExist": there is None,
    }.get(str(expression["operator"]), False)


def _selected(kind: str, spec: Json, home: str, given: Given) -> Iterator[str]:
    field, where = f"{_SELECTORS[kind]}Selector", f"{_SELECTORS[kind]}NamespaceSelector"
    wanted, namespaces = spec.get(field), spec.get(where)
    if wanted is None:
        yield f"selects no {kind} at all, its spec.{field} is not set; fix: set it, to labels that are in {KEY}.labels"
    elif not matches(wanted, given.labels):
        own = ",".join(f"{key}={value}" for key, value in sorted(given.labels.items()))
        yield (
            f"selects each {kind} by spec.{field} `{told(wanted)}`, and ours have `{own}`; fix: those labels in "
            f"{KEY}.labels"
        )
    if namespaces is None and home != given.namespace:
        yield (
            f"looks for each {kind} in its own namespace alone, its spec.{where} is not set; fix: set it there, `{{}}` "
            "means every namespace"
        )
    elif namespaces is not None and not matches(namespaces, given.namespace_labels):
        yield (
            f"looks for each {kind} in namespaces `{told(namespaces)}` (spec.{where}), and {given.namespace} is none "
            f"of them; fix: those labels in {KEY}.namespace_labels"
        )


def _enforced(spec: Json, given: Given) -> Iterator[str]:
    label = spec.get("enforcedNamespaceLabel")
    caught = [kind for kind in given.kinds if not _excluded(kind, spec, given.namespace)]
    if label and caught:
        yield (
            f"writes the label `{label}` over each series and rule of {', '.join(caught)} (spec.enforcedNamespaceLabel)"
            f", which then say of each pod that it is in {given.namespace}; fix: in spec.excludedFromEnforcement "
            f"entries with namespace {given.namespace} and resource {', '.join(_RESOURCES[kind] for kind in caught)}"
        )
    limit = int(spec.get("enforcedSampleLimit") or 0)
    if 0 < limit < given.samples:
        yield (
            f"throws away scrapes of more than {limit} samples (spec.enforcedSampleLimit), and plumbline:sizing plans "
            f"for {given.samples}; fix: a larger limit there, or correct the sizing"
        )


def _excluded(kind: str, spec: Json, namespace: str) -> bool:
    return any(
        entry.get("resource") == _RESOURCES[kind] and entry.get("namespace") == namespace and not entry.get("name")
        for entry in spec.get("excludedFromEnforcement") or ()
    )


def _overridden(spec: Json, given: Given) -> Iterator[str]:
    if spec.get("overrideHonorLabels") and given.honors:
        yield (
            "takes the pod of a GPU for the exporter's own, and renames the right one to exported_pod "
            "(spec.overrideHonorLabels); fix: false"
        )
    if spec.get("overrideHonorTimestamps") and given.stamps:
        yield "gives old samples of cAdvisor the time of the scrape (spec.overrideHonorTimestamps); fix: false"
    if spec.get("ignoreNamespaceSelectors") and given.elsewhere:
        yield (
            f"finds no pod outside of {given.namespace} (spec.ignoreNamespaceSelectors), and there are some in "
            f"{', '.join(given.elsewhere)}; fix: false"
        )


def unlabelled(prometheus: Json, given: Given) -> list[str]:
    """An alert about something that is absent has no label of a series; it gets those of the Prometheus, if any."""
    there = (prometheus.get("spec") or {}).get("externalLabels") or {}
    missing = ", ".join(f"{label}: {value}" for label, value in given.external.items() if label not in there)
    if not missing:
        return []
    return [f"has no external label for {missing}: alerts about what is absent will not say where; set externalLabels"]


def _external(spec: Json, given: Given) -> Iterator[str]:
    there = spec.get("externalLabels") or {}
    for label, value in given.external.items():
        if there.get(label, value) != value:
            yield (
                f"has the external label {label}={there[label]}, and this stack says {value}, so that alerts about one "
                f"cluster would bear two names; fix: plumbline:cluster with the name and environment that it has"
            )


def _alerting(spec: Json, given: Given) -> Iterator[str]:
    """What is in a Secret of further addresses is not read: there may be more than addresses in it."""
    if given.alertmanager is None or spec.get("additionalAlertManagerConfigs"):
        return
    told_ones = (spec.get("alerting") or {}).get("alertmanagers") or ()
    if not any(a.get("name") == given.alertmanager and a.get("namespace") == given.namespace for a in told_ones):
        yield (
            f"does not tell Alertmanager {given.namespace}/{given.alertmanager} (spec.alerting.alertmanagers), though "
            f"{KEY}.tells_our_alertmanager says so; fix: an entry there with this namespace and name and port http, or "
            "false here"
        )
