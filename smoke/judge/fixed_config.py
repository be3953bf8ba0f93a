"""Configuration that a program reads once: pods were made for the ConfigMaps that are there, which nobody changed.

A file that says its own revision proves nothing. So all of it is compared: with which files the program is started,
what lies behind their paths, the hash of that, and for which ConfigMap the pod was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke.judge.configuration import digest
from smoke.judge.mounts import config_map_of
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stacks.contract import Collector, TraceStore

Json = dict[str, Any]

OWN_REVISION: Final = "revision-of-this-file"
"""What a file says in place of its revision while that is worked out."""
UID: Final = "plumbline/config-uid"
DEBUG_UID: Final = "plumbline/debug-uid"
WRITTEN: Final = "plumbline/config-revision"
"""Annotation of the second ConfigMap: revision of what `make debug-logs` wrote last."""
STARTED: Final = "plumbline/debug-revision"
"""Annotation of pods: name of the second ConfigMap, a hyphen and the revision for which that word started them."""
_OPTION: Final = "--config="


def revision(files: Mapping[str, str], own: str = "") -> str:
    """The revision of files, as components count it. own: the one that they are thought to have, and to say."""
    texts = {name: text.replace(own, OWN_REVISION) if own else text for name, text in files.items()}
    return f"r{digest(texts)}"


def mounted(pod: Json, container: str) -> tuple[str, ...]:
    """Names of the ConfigMaps behind the files that a container is started with, "" for what is none."""
    return tuple(config_map_of(pod["spec"], container, path) or "" for path in _files(_container(pod, container)))


def fixed(
    who: str, pods: list[Json], config_maps: Mapping[str, Json | None], name: str, promised: Collector | TraceStore
) -> list[Problem]:
    """What is wrong with the files of these pods. name: of the container. config_maps: all that they mount, by name."""
    problems: list[Problem] = []
    for pod in pods:
        problems += _started(f"{who}, pod {pod['metadata']['name']}", pod, config_maps, name, promised)
    return list(dict.fromkeys(problems))


def _started(
    subject: str, pod: Json, config_maps: Mapping[str, Json | None], name: str, promised: Collector | TraceStore
) -> Iterator[Problem]:
    container = _container(pod, name)
    seen = [*(container.get("command") or ()), *(container.get("args") or ())]
    if seen != [*promised.arguments]:
        yield Problem(subject, f"started with {' '.join(seen) or 'nothing'}", " ".join(promised.arguments))
        return
    names = mounted(pod, name)
    if not names[0].endswith(f"-{promised.revision}"):
        yield Problem(subject, f"configured by {names[0] or 'no ConfigMap'}", f"ConfigMap …-{promised.revision}")
    else:
        yield from _unchanged(names[0], config_maps.get(names[0]), promised.revision)
        yield from _made_for(subject, pod, names[0], config_maps.get(names[0]), UID)
    debug = getattr(promised, "debug_revision", None)
    if debug is not None:
        yield from _debugged(subject, pod, names[1], config_maps.get(names[1]), debug)


def _unchanged(name: str, found: Json | None, expected: str) -> Iterator[Problem]:
    subject = f"ConfigMap {name}"
    if found is None:
        yield Problem(subject, "missing", f"revision {expected}")
        return
    seen = revision(found.get("data") or {}, expected)
    if seen != expected:
        yield Problem(subject, f"files of revision {seen}", f"of revision {expected}")
    if found.get("immutable") is not True:
        yield Problem(subject, "can be changed", "immutable: true")


def _made_for(subject: str, pod: Json, name: str, found: Json | None, annotation: str) -> Iterator[Problem]:
    if found is not None and _annotations(pod).get(annotation) != found["metadata"]["uid"]:
        seen = f"made for another ConfigMap {name} than the one that is there, which somebody made again"
        yield Problem(subject, seen, "made for the one that is there")


def _debugged(subject: str, pod: Json, name: str, found: Json | None, first: str) -> Iterator[Problem]:
    """The second file is as it was written last, and the pod was started for it. first: before anybody wrote it."""
    if found is None:
        yield Problem(subject, f"its second file is of {name or 'no ConfigMap'}", "of one that is there")
        return
    seen = revision(found.get("data") or {})
    written = (found["metadata"].get("annotations") or {}).get(WRITTEN, first)
    if seen != written:
        yield Problem(f"ConfigMap {name}", f"revision {seen}, by hand", f"revision {written}, as it was written last")
        return
    yield from _made_for(subject, pod, name, found, DEBUG_UID)
    told = _annotations(pod).get(STARTED, "")
    # With another lowest level there is another ConfigMap, and what was written into the one before is over.
    started = told.removeprefix(f"{name}-") if told.startswith(f"{name}-r") else first
    if started != seen:
        yield Problem(subject, f"started for revision {started} of ConfigMap {name}", f"revision {seen}")


def _container(pod: Json, name: str) -> Json:
    found: Json = next((one for one in pod["spec"]["containers"] if one["name"] == name), {})
    return found


def _files(container: Json) -> list[str]:
    arguments = container.get("args") or ()
    return [str(one).removeprefix(_OPTION) for one in arguments if str(one).startswith(_OPTION)]


def _annotations(pod: Json) -> dict[str, str]:
    return pod["metadata"].get("annotations") or {}
