"""Names of recovery's objects, accounts and paths: for its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "recovery"
CONTAINER: Final = "recovery"
CREATE: Final = "recovery-create"
VERIFY: Final = "recovery-verify"
PRUNE: Final = "recovery-prune"
RESTORE: Final = "recovery-restore"
CRON_JOBS: Final = {"create": CREATE, "verify": VERIFY, "prune": PRUNE, "restore": RESTORE}
"""Command of the program → CronJob that runs it. Those that make and restore are in SwanLab's namespace, the others in
recovery's own. The last has no schedule: people start Jobs from it."""

STORE: Final = "recovery-store"
STORE_ADMIN: Final = f"{STORE}-admin"
"""The Secret with the key of the store's administrator, mounted by its own pod alone."""
KEEPER: Final = "keep-lock"
BUCKET: Final = "recovery"
WRITER: Final = "recovery-writer"
READER: Final = "recovery-reader"
PRUNER: Final = "recovery-pruner"
"""Accounts of the target: an identity, the Secret that holds its key, and the role from which that is derived."""
ACCESS_KEY: Final = "accessKey"
SECRET_KEY: Final = "secretKey"  # noqa: S105  # the name of a key in a Secret

SIGNING: Final = "recovery-signing"
SIGNING_KEY: Final = "key"
SCRATCH: Final = "recovery-scratch"
SCRATCH_USER: Final = "recovery"
SCRATCH_USER_KEY: Final = "username"
SCRATCH_PASSWORD: Final = "password"  # noqa: S105  # the name of a key in a Secret
SCRATCH_URL: Final = "url"

CONFIG: Final = "recovery-config"
CONFIG_FILE: Final = "config.json"
RESTORE_FILE: Final = "restore.json"
"""In SwanLab's namespace, beside the other: it names the reader's account, which who makes points must not have."""
CONFIG_PATH: Final = "/etc/recovery"
SECRETS_PATH: Final = "/secrets"
WORK_PATH: Final = "/work"
GRAFANA_LOGIN: Final = "recovery-grafana"
"""Holds Grafana's derived password beside the pods that ask it: a pod mounts no Secret of another namespace."""
GRAFANA_PASSWORD: Final = "password"  # noqa: S105  # the name of a key in a Secret
ALERTMANAGER_FILE: Final = "alertmanager.yml"
ALERTMANAGER_PATH: Final = "/etc/alertmanager"

QUOTA: Final = "recovery"


def pods(cron_job: str, instance: str) -> dict[str, str]:
    """Labels that select the pods of a CronJob. instance: the stack's namespace."""
    return selector_labels(cron_job, instance)


def beside_live_stores(instance: str) -> tuple[dict[str, str], ...]:
    """Labels that select each kind of pod that reads or writes live stores. instance: the stack's namespace."""
    return (pods(CREATE, instance), pods(RESTORE, instance))


def object_labels(instance: str, name: str = NAME, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component. instance: the stack's namespace."""
    return labels(name, instance, "recovery", version)


def secret_file(secret: str, key: str) -> str:
    """Where a key of a Secret lies in a container that mounts it."""
    return f"{SECRETS_PATH}/{secret}/{key}"
