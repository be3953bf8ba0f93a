"""Names of the object store's objects, ports and paths: for its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "object-store"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CLAIM: Final = f"{NAME}-data"
CONFIG_SECRET: Final = f"{NAME}-identities"
KEYS_SECRET: Final = f"{NAME}-keys"
"""For whoever uses the store: `<identity>-access-key` and `<identity>-secret-key`."""

PORT: Final = 8333
PORT_NAME: Final = "s3"
METRICS_PORT: Final = 9327
METRICS_PORT_NAME: Final = "metrics"

DATA_PATH: Final = "/data"
CONFIG_PATH: Final = "/etc/object-store"
CONFIG_FILE: Final = "s3.json"

ADMIN: Final = "admin"
ANONYMOUS: Final = "anonymous"
"""Name under which SeaweedFS looks up whoever shows no key."""

REGION: Final = "us-east-1"
"""SeaweedFS takes a signature of any region; clients that must name one name this."""


def access_key_entry(identity: str) -> str:
    """Key in KEYS_SECRET that holds an identity's access key."""
    return f"{identity}-access-key"


def secret_key_entry(identity: str) -> str:
    """Key in KEYS_SECRET that holds an identity's secret key."""
    return f"{identity}-secret-key"


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "object-store", version)
