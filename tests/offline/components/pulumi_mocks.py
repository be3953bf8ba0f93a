"""A Pulumi engine that only records. The one file that knows the SDK's mock monitor, which is not a public class."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.runtime import mocks as sdk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, kw_only=True)
class Registered:
    """One registration. parent, provider, depends_on: logical names. ignored: fields whose changes are not applied."""

    type: str
    name: str
    inputs: dict[str, Any]
    parent: str
    provider: str
    depends_on: tuple[str, ...]
    retained: bool
    protected: bool
    aliases: int
    ignored: tuple[str, ...] = ()


@dataclass
class Recording:
    """What a program registered, in order, and the outputs of its components by name."""

    resources: list[Registered] = field(default_factory=list)
    outputs: dict[str, set[str]] = field(default_factory=dict)

    def named(self, name: str) -> Registered:
        """The one resource of this logical name."""
        found = [resource for resource in self.resources if resource.name == name]
        assert len(found) == 1, f"{name} was registered {len(found)} times"
        return found[0]

    def of_type(self, ending: str) -> list[Registered]:
        """Resources whose type token ends so."""
        return [resource for resource in self.resources if resource.type.endswith(ending)]


class _Echo(sdk.Mocks):
    """Every resource gets what it asked for."""

    def call(self, args: sdk.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        """No function is called by the bundle."""
        raise AssertionError(f"unexpected call of {args.token}")

    def new_resource(self, args: sdk.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Outputs equal inputs, but for what a cluster gives each ConfigMap."""
        found = args.inputs
        if args.typ.endswith(":ConfigMap"):
            found = {**found, "metadata": {**found["metadata"], "uid": f"uid of {args.name}"}}
        return f"{args.name}-id", found


class _Monitor(sdk.MockMonitor):
    """Records what the public mocks leave out: parents, providers, dependencies and options."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(_Echo())
        self.recording = recording

    def RegisterResource(self, request: Any) -> object:  # noqa: ANN401  # generated messages have no types
        if request.type != "pulumi:pulumi:Stack":
            self.recording.resources.append(_registered(request))
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]  # pulumi leaves it untyped

    def RegisterResourceOutputs(self, request: Any) -> object:  # noqa: ANN401  # as above
        self.recording.outputs[_name(request.urn)] = set(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]  # pulumi leaves it untyped


def _registered(request: Any) -> Registered:  # noqa: ANN401  # as above
    # A reference is the provider's URN with `::<id>` behind it.
    references = [request.provider, *request.providers.values()]
    return Registered(
        type=request.type,
        name=request.name,
        inputs=pulumi.runtime.rpc.deserialize_properties(request.object, keep_unknowns=True),
        parent=_name(request.parent),
        provider=next((_name(reference.rpartition("::")[0]) for reference in references if reference), ""),
        depends_on=tuple(sorted({_name(urn) for urn in request.dependencies})),
        retained=bool(request.retainOnDelete),
        protected=bool(request.protect),
        aliases=len(request.aliases),
        ignored=tuple(request.ignoreChanges),
    )


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def taken_uids(registered: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Name of a workload → uids of the ConfigMaps that its pods carry, which are taken off the inputs given."""
    found = {}
    for inputs in registered:
        template = (inputs.get("spec") or {}).get("template") or {}
        annotations = (template.get("metadata") or {}).get("annotations") or {}
        uids = [annotations.pop(f"plumbline/{what}-uid", None) for what in ("config", "debug")]
        if any(uids):
            found[str(inputs["metadata"]["name"])] = ", ".join(str(uid) for uid in uids if uid)
    return found


def record(program: Callable[[], object], stack: str = "local") -> Recording:
    """Run a program against the recording engine until everything is registered."""
    recording = Recording()
    asyncio.set_event_loop(asyncio.new_event_loop())
    sdk.set_mocks(_Echo(), project="plumbline", stack=stack, preview=False, monitor=_Monitor(recording))
    run: Callable[[Callable[[], None]], Callable[[], None]] = sdk.test

    def once() -> None:
        program()

    run(once)()
    return recording
