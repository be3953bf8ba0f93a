"""Settings for tests: the committed stack files, completed with what only a real cluster knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from components.images import ImagePin
from stacks.arguments import existing_prometheus_args, prometheus_args
from stacks.settings import Settings, parse

if TYPE_CHECKING:
    from components.existing_prometheus.args import ExistingPrometheusArgs
    from components.prometheus.args import PrometheusArgs

ROOT = Path(__file__).parents[3]
STACKS = ("local", "kind", "staging", "prod")
UID = "11111111-2222-3333-4444-555555555555"
OTHER_UID = "99999999-8888-7777-6666-555555555555"
IMAGE_ID = "sha256:" + "a" * 64
LOCAL_IMAGE = ImagePin(reference="plumbline.local/prometheus:3.16.0-0123abcd", image_id=IMAGE_ID)
ROOT_SECRET = "canary-root-" + "0123456789" * 3


def _built(name: str, tag: str, *, stand_in: bool = False) -> ImagePin:
    return ImagePin(reference=f"plumbline.local/{name}:{tag}-0123abcd", image_id=IMAGE_ID, stand_in=stand_in)


MONITORING = {
    "prometheus": LOCAL_IMAGE,
    "alertmanager": _built("alertmanager", "0.31.1"),
    "pushgateway": _built("pushgateway", "1.11.1"),
    "node-exporter": _built("node-exporter", "1.12.1"),
    "kube-state-metrics": _built("kube-state-metrics-stand-in", "2.19.1", stand_in=True),
    "dcgm-exporter": _built("dcgm-exporter-simulator", "4.6.0-4.8.3", stand_in=True),
}
_STAND_INS = ("swanlab-server", "swanlab-auth", "swanlab-house", "swanlab-vector", "swanlab-cloud", "swanlab-next")
EXPERIMENTS = {
    "object-store": _built("seaweedfs", "4.48"),
    "swanlab-gate": _built("swanlab-gate", "1"),
    "recovery": _built("recovery", "1"),
    **{role: _built("swanlab-stand-in", "3.1.1", stand_in=True) for role in _STAND_INS},
    **{
        role: _built("swanlab-gateway-stand-in", "1", stand_in=True) for role in ("swanlab-gateway", "swanlab-identify")
    },
    "swanlab-helper": _built("volume-helper", "1.35.0"),
    "swanlab-postgres": _built("postgres", "15.8"),
    "swanlab-redis": _built("redis", "7.0.15"),
    "swanlab-clickhouse": _built("clickhouse-engine", "24.3", stand_in=True),
    "swanlab-s3": _built("seaweedfs", "4.48"),
    "swanlab-mc": _built("swanlab-stand-in", "3.1.1", stand_in=True),
    "swanlab-sdk": _built("swanlab-sdk", "0.8.4"),
}
TELEMETRY = {
    "otel-collector": _built("otel-collector", "0.165.1"),
    "victoria-logs": _built("victoria-logs", "1.52.1"),
    "jaeger": _built("jaeger", "2.13.0"),
}
NOT_BUILT = {"grafana": ImagePin(reference="registry.example.com/grafana/grafana:11.6.14")}
BUILT = MONITORING | EXPERIMENTS | TELEMETRY | NOT_BUILT
"""Role → image, as images.json of the embedded cluster has them, but for those that are not built there."""


def stack_file(stack: str) -> dict[str, Any]:
    """`config` of a committed stack file."""
    text = (ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["config"]
    return found


def completed(stack: str, images: Path | None = None) -> dict[str, Any]:
    """A committed stack file plus what `make up` or a person adds. images: path of an images.json, for `local`."""
    found = stack_file(stack)
    found["plumbline:cluster"] = {"context": "plumbline", **found["plumbline:cluster"], "uid": UID}
    if images is not None and found["plumbline:images"]["source"] == "file":
        found["plumbline:images"] = {**found["plumbline:images"], "path": str(images)}
        found["plumbline:secrets"] = {"root": ROOT_SECRET}
    return found


def as_pulumi_has_it(config: dict[str, Any]) -> dict[str, str]:
    """Pulumi hands over text: plain values as they are, everything else as JSON."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def write_images(path: Path) -> Path:
    """An images.json as the image builder writes it."""
    built = {"pause": LOCAL_IMAGE, **{role: pin for role, pin in BUILT.items() if role not in NOT_BUILT}}
    entries = {
        role: {"reference": pin.reference, "image_id": pin.image_id, "stand_in": pin.stand_in}
        for role, pin in built.items()
    }
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def settings(stack: str, images: Path | None = None, **sections: dict[str, Any]) -> Settings:
    """Parsed settings of a completed stack. sections: keys laid over a section, for example `prometheus={...}`."""
    config = completed(stack, images or Path("images.json"))
    for section, values in sections.items():
        config[f"plumbline:{section}"] = {**config.get(f"plumbline:{section}", {}), **values}
    return parse(stack, as_pulumi_has_it(config))


EXISTING: dict[str, Any] = {"namespace": "team-monitoring", "labels": {"release": "team"}}
"""A Prometheus that a team already runs, by the operator of kube-prometheus-stack."""


def existing(stack: str = "staging", images: Path | None = None, **sections: dict[str, Any]) -> Settings:
    """Parsed settings of a completed stack with that Prometheus in place of its own. sections: see settings()."""
    config = completed(stack, images or Path("images.json"))
    del config["plumbline:prometheus"]
    section_of_it = EXISTING | sections.pop("existing_prometheus", {})
    for section, values in {**sections, "existing_prometheus": section_of_it}.items():
        config[f"plumbline:{section}"] = {**config.get(f"plumbline:{section}", {}), **values}
    return parse(stack, as_pulumi_has_it(config))


def existing_args(**sections: dict[str, Any]) -> ExistingPrometheusArgs:
    """Arguments of what that Prometheus is given by stack local."""
    found = existing("local", None, **sections)
    assert found.existing_prometheus is not None
    return existing_prometheus_args(found, found.existing_prometheus)


def local_args(**sections: dict[str, Any]) -> PrometheusArgs:
    """Arguments of the Prometheus component of stack local, which has a Grafana here, so that every job is scraped."""
    whole: dict[str, dict[str, Any]] = {"grafana": {"mode": "managed"}, **sections}
    return prometheus_args(settings("local", None, **whole), BUILT)
