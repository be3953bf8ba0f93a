"""Settings for tests: the committed stack files, completed with what only a real cluster knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from components.images import ImagePin
from stacks.arguments import prometheus_args
from stacks.settings import Settings, parse

if TYPE_CHECKING:
    from components.prometheus.args import PrometheusArgs

ROOT = Path(__file__).parents[3]
STACKS = ("local", "kind", "staging", "prod")
UID = "11111111-2222-3333-4444-555555555555"
OTHER_UID = "99999999-8888-7777-6666-555555555555"
IMAGE_ID = "sha256:" + "a" * 64
LOCAL_IMAGE = ImagePin(reference="plumbline.local/prometheus:3.16.0-0123abcd", image_id=IMAGE_ID)


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
    return found


def as_pulumi_has_it(config: dict[str, Any]) -> dict[str, str]:
    """Pulumi hands over text: plain values as they are, everything else as JSON."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def write_images(path: Path) -> Path:
    """An images.json as the image builder writes it."""
    entry = {"reference": LOCAL_IMAGE.reference, "image_id": LOCAL_IMAGE.image_id}
    path.write_text(json.dumps({"pause": entry, "prometheus": entry}), encoding="utf-8")
    return path


def settings(stack: str, images: Path | None = None, **sections: dict[str, Any]) -> Settings:
    """Parsed settings of a completed stack. sections: keys laid over a section, for example `prometheus={...}`."""
    config = completed(stack, images or Path("images.json"))
    for section, values in sections.items():
        config[f"plumbline:{section}"] = {**config.get(f"plumbline:{section}", {}), **values}
    return parse(stack, as_pulumi_has_it(config))


def local_args(**sections: dict[str, Any]) -> PrometheusArgs:
    """Arguments of the Prometheus component of stack local."""
    return prometheus_args(settings("local", None, **sections), {"prometheus": LOCAL_IMAGE})
