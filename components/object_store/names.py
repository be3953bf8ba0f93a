"""Names of the object store's objects, ports and paths: for its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "object-store"
CLAIM: Final = f"{NAME}-data"
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


def headless_service(name: str) -> str:
    """The Service that names the pod of a store. name: of the store, as below."""
    return f"{name}-headless"


def claim_name(name: str) -> str:
    """The claim of a store."""
    return f"{name}-data"


def config_secret(name: str) -> str:
    """The Secret that a store reads."""
    return f"{name}-identities"


def selector(namespace: str, name: str = NAME) -> dict[str, str]:
    """Labels that select the pods. namespace: the stack's."""
    return selector_labels(name, namespace)


def object_labels(namespace: str, version: str | None = None, name: str = NAME) -> dict[str, str]:
    """Labels of every object of the component. namespace: the stack's."""
    return labels(name, namespace, "object-store", version)
