"""Names of Grafana's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "grafana"
CONFIG_MAP: Final = f"{NAME}-config"
BOARDS_CONFIG_MAP: Final = f"{NAME}-boards"
"""Begins of names of ConfigMaps, which end in their revision."""
CLAIM: Final = f"{NAME}-data"
SECRET: Final = f"{NAME}-generated"
"""Holds what was derived, where the settings name no Secret of somebody else."""

PORT: Final = 3000
PORT_NAME: Final = "http"
LOGIN: Final = "admin"
"""Name of the account whose password is ours."""

FOLDER: Final = "Plumbline"
FOLDER_UID: Final = "plumbline"
"""Of the folder that holds every board; people keep its address."""

USER: Final = 472
"""User of the image."""
HOME_PATH: Final = "/usr/share/grafana"
CONFIG_PATH: Final = "/etc/grafana"
CONFIG_FILE: Final = "grafana.ini"
DATASOURCES_FILE: Final = "datasources.yaml"
PROVIDER_FILE: Final = "dashboards.yaml"
PROVISIONING_PATH: Final = f"{CONFIG_PATH}/provisioning"
PLACES: Final[dict[str, str]] = {
    CONFIG_FILE: CONFIG_FILE,
    DATASOURCES_FILE: f"provisioning/datasources/{DATASOURCES_FILE}",
    PROVIDER_FILE: f"provisioning/dashboards/{PROVIDER_FILE}",
}
"""File of the ConfigMap → where it lies below CONFIG_PATH: keys of a ConfigMap know no directories."""
BOARDS_PATH: Final = "/etc/grafana-boards"
SECRETS_PATH: Final = "/etc/grafana-secrets"
DATA_PATH: Final = "/var/lib/grafana"
PLUGINS_PATH: Final = "/var/lib/grafana-plugins"

ADMIN_FILE: Final = "admin-password"
ENCRYPTION_FILE: Final = "encryption-key"
DATABASE_FILE: Final = "database-password"
AUTHORITY_FILE: Final = "database-ca.crt"
"""Files below SECRETS_PATH, and the first two keys of SECRET."""

ADMIN_ROLE: Final = f"{NAME}-admin"
ENCRYPTION_ROLE: Final = f"{NAME}-encryption"
"""Roles of derived secrets, see components/secrets.py."""

LOGS_PLUGIN: Final = "victoriametrics-logs-datasource"


def secret_path(file: str) -> str:
    """Where the pod finds a secret."""
    return f"{SECRETS_PATH}/{file}"


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "dashboards", version)
