"""Rules about what runs: images, numbers of pods, rights, resources and the address that people are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from components.swanlab.finding import Context, Finding, Values, at
from components.swanlab.lint_state import runs_here
from components.swanlab.names import BUFFER, IMAGES, SERVICES, STORES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BUFFER_PODS: Final = 2


def images(values: Values, _: Context) -> Iterator[Finding]:
    """All fourteen, one by one: the chart has no key for a registry, and what is not named comes from the vendor's."""
    for path in IMAGES.values():
        if path[0] == "dependencies" and not runs_here(values, path[1]):
            continue
        where = ".".join(path)
        repository, tag = at(values, f"{where}.repository"), at(values, f"{where}.tag")
        if not repository or not tag:
            what = "repository" if not repository else "tag"
            yield Finding(
                code="image",
                message=f"`{where}.{what}` is empty, so the chart decides which image runs and from where; accepted: "
                "repository and tag of an image in the image list; fix: stacks/versions.toml",
            )
        elif tag == "latest":
            yield Finding(
                code="image",
                message=f"`{where}.tag` is `latest`, which is another image tomorrow; accepted: a version; fix: "
                "stacks/versions.toml",
            )


def replicas(values: Values, context: Context) -> Iterator[Finding]:
    """A second pod of a store corrupts or hides data; a buffer with fewer pods strands what the others hold."""
    for store in STORES:
        count = at(values, f"dependencies.{store}.replicas")
        if count not in (None, 1):
            yield Finding(
                code="replicas",
                message=f"`dependencies.{store}.replicas` is {count}: two would write one volume; accepted: 1; fix: "
                "values.py",
            )
    pods = at(values, f"{BUFFER}.replicas")
    accepted = (_BUFFER_PODS,) if context.durable else (1, _BUFFER_PODS)
    if pods not in accepted:
        yield Finding(
            code="replicas",
            message=f"`{BUFFER}.replicas` is {pods}; accepted: {' or '.join(str(n) for n in accepted)}, as the vendor "
            "says; fix: plumbline:swanlab.buffer.replicas",
        )
    for path in (_path(name) for name in SERVICES):
        count = at(values, f"{path}.replicas")
        if not isinstance(count, int) or count < 1:
            yield Finding(
                code="replicas",
                message=f"`{path}.replicas` is {count}; accepted: 1 or more; fix: plumbline:swanlab.replicas",
            )


def rights(values: Values, _: Context) -> Iterator[Finding]:
    """Off by default in the chart: everything would run as root."""
    for path in _programs(values):
        if at(values, f"{path}.securityContext.enabled") is not True:
            yield Finding(
                code="runs-as-root",
                message=f"`{path}.securityContext.enabled` is not true, so its pods run as root; accepted: true; "
                "fix: values.py",
            )


def limits(values: Values, _: Context) -> Iterator[Finding]:
    """The chart has none: a pod that asks for nothing is evicted first, and one without a limit evicts others."""
    wanted = ("requests.cpu", "requests.memory", "limits.memory")
    for path in _programs(values):
        missing = [key for key in wanted if not at(values, f"{path}.resources.{key}")]
        if missing:
            yield Finding(
                code="resources",
                message=f"`{path}.resources` lacks {', '.join(missing)}; accepted: Kubernetes quantities; fix: "
                "components/swanlab/resources.py",
            )


def host(values: Values, _: Context) -> Iterator[Finding]:
    """An SDK adds https where there is no scheme, and drops every path."""
    path = "global.settings.host"
    found = str(at(values, path) or "")
    parts = urlsplit(found)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.fragment:
        yield Finding(
            code="host",
            message=f"`{path}` is `{found}`; accepted: http:// or https:// and a host, perhaps a port, no path; fix: "
            "plumbline:swanlab.public_host, or plumbline:swanlab.host",
        )


def _path(program: str) -> str:
    return program if program in ("gateway", BUFFER) else f"service.{program}"


def _programs(values: Values) -> Iterator[str]:
    yield from (_path(name) for name in (*SERVICES, BUFFER))
    yield from (f"dependencies.{store}" for store in STORES if runs_here(values, store))


RULES: tuple[Callable[[Values, Context], Iterator[Finding]], ...] = (images, replicas, rights, limits, host)
