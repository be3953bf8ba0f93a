"""Configuration changed behind the engine's back, and put back."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import yaml

from tests.live.plumbline import NAMESPACE, get, kubectl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Files = dict[str, str]

_TOUCHED: Final = "plumbline.dev/touched"


def configmap_with(text: str) -> dict[str, Any]:
    """The ConfigMap of the namespace one of whose files holds `text`."""
    items = get("configmaps", "-n", NAMESPACE)["items"]
    return next(
        i
        for i in items
        if i["metadata"]["name"] != "plumbline-contract" and any(text in v for v in i.get("data", {}).values())
    )


@contextmanager
def changed(configmap: str, pod: str, change: Callable[[Files], Files]) -> Iterator[None]:
    """Change files of a ConfigMap that `pod` mounts, and write them back afterwards; nobody waits here."""
    data: Files = get(f"configmap/{configmap}", "-n", NAMESPACE)["data"]
    other = {name: content for name, content in change(dict(data)).items() if content != data[name]}
    assert other
    try:
        write(configmap, other)
        _touch(pod, f"{_TOUCHED}={time.time_ns()}")
        yield
    finally:
        write(configmap, {name: data[name] for name in other})
        _touch(pod, f"{_TOUCHED}-")


def write(configmap: str, files: Files) -> None:
    """Write these files of a ConfigMap. By standard input: all rules are too long for an argument."""
    patch = json.dumps({"data": files})
    kubectl("patch", "configmap", configmap, "-n", NAMESPACE, "--type=merge", "--patch-file=/dev/stdin", stdin=patch)


def _touch(pod: str, annotation: str) -> None:
    """The kubelet renews the volumes of a pod when it looks at it: every ten seconds or so, and when it changes."""
    kubectl("annotate", "--overwrite", "pod", pod, "-n", NAMESPACE, annotation, check=False)  # it may be on its way out


def in_yaml(file: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Files], Files]:
    """For `changed`: edit one file as a document. change: edits it in place."""

    def edited(data: Files) -> Files:
        document = yaml.safe_load(data[file])
        change(document)
        return {**data, file: yaml.safe_dump(document, sort_keys=False)}

    return edited


def in_text(text: str, replacement: str) -> Callable[[Files], Files]:
    """For `changed`: replace a text in every file."""
    return lambda data: {name: content.replace(text, replacement) for name, content in data.items()}
