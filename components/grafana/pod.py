"""The pods that run Grafana."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.exporters import probe
from components.fixed_config import fixed_name
from components.grafana.args import Sqlite
from components.grafana.names import (
    ADMIN_FILE,
    AUTHORITY_FILE,
    BOARDS_CONFIG_MAP,
    BOARDS_PATH,
    CLAIM,
    CONFIG_FILE,
    CONFIG_MAP,
    CONFIG_PATH,
    DATA_PATH,
    DATABASE_FILE,
    ENCRYPTION_FILE,
    HOME_PATH,
    NAME,
    PLACES,
    PLUGINS_PATH,
    PORT,
    PORT_NAME,
    SECRET,
    SECRETS_PATH,
    USER,
    secret_path,
)
from components.pods import quantities, restricted_container, restricted_pod
from components.secrets import Existing

if TYPE_CHECKING:
    from components.grafana.args import GrafanaArgs
    from components.objects import Manifest
    from components.rendered import Rendered
    from components.secrets import SecretSource

PASSWORD_CONTAINER: Final = "password"  # noqa: S105  # name of a container
PLUGINS_CONTAINER: Final = "plugins"
_STOP_SECONDS: Final = 30
_START_SECONDS: Final = 300

SET_PASSWORD: Final = (
    f"exec grafana cli --homepath {HOME_PATH} --config {CONFIG_PATH}/{CONFIG_FILE} "
    f"admin reset-admin-password --password-from-stdin < {secret_path(ADMIN_FILE)}"
)
"""Sets the password that the Secret has, at each start of a pod and before the server listens.

Settings and variables give a password to the first start of an empty database and to no later one: after that Grafana
knows the one in its database, and a changed Secret would change nothing but what people try in vain. The command opens
the database as the server does, so on a first start it makes the tables and the account, and then sets the password; no
server ever ran with another. It reads from a file, since arguments and variables are shown to whoever sees the process.
Where it fails (the account with id 1 is gone or no administrator, the database does not answer) the pod does not start,
which is seen; a server that takes the old password would not be.
"""


def pod_spec(args: GrafanaArgs, rendered: Rendered, boards: tuple[Rendered, ...]) -> Manifest:
    """The spec of the pod template."""
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": {**restricted_pod(), "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER},
        "initContainers": [*_plugins(args), _password(args)],
        "containers": [_server(args)],
        "volumes": _volumes(args, rendered, boards),
    }


def _server(args: GrafanaArgs) -> Manifest:
    """Not ready while the database does not answer; but a restart would not cure that, so it is not killed for it."""
    return {
        **_container(args, NAME),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "startupProbe": probe("/healthz", PORT_NAME, every=2, failures=_START_SECONDS // 2),
        "readinessProbe": probe("/api/health", PORT_NAME, every=5, failures=3),
        "livenessProbe": probe("/healthz", PORT_NAME, every=10, failures=6),
    }


def _password(args: GrafanaArgs) -> Manifest:
    return {**_container(args, PASSWORD_CONTAINER), "command": ["/bin/sh", "-c", SET_PASSWORD]}


def _container(args: GrafanaArgs, name: str) -> Manifest:
    """Image, files and rights are the same for the command and the server: they share a database and its key."""
    return {
        "name": name,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        # The image has a variable of its own for it, and that wins over the file.
        "env": [{"name": "GF_PATHS_PLUGINS", "value": PLUGINS_PATH}],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "boards", "mountPath": BOARDS_PATH, "readOnly": True},
            {"name": "secrets", "mountPath": SECRETS_PATH, "readOnly": True},
            {"name": "data", "mountPath": DATA_PATH},
            {"name": "plugins", "mountPath": PLUGINS_PATH},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # sockets of plugins, in a volume of the pod
        ],
    }


def _plugins(args: GrafanaArgs) -> list[Manifest]:
    """Copied from an image, which a registry without the internet behind it serves as well."""
    wanted = args.plugins
    if wanted is None or wanted.image is None:
        return []
    return [
        {
            "name": PLUGINS_CONTAINER,
            "image": wanted.image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["/bin/sh", "-c", f"exec cp -R {wanted.path}/. {PLUGINS_PATH}/"],
            "resources": quantities(args.resources),
            "securityContext": restricted_container(),
            "volumeMounts": [{"name": "plugins", "mountPath": PLUGINS_PATH}],
        }
    ]


def _volumes(args: GrafanaArgs, rendered: Rendered, boards: tuple[Rendered, ...]) -> list[Manifest]:
    items = [{"key": key, "path": path} for key, path in PLACES.items()]
    own = isinstance(args.database, Sqlite)
    return [
        {"name": "config", "configMap": {"name": fixed_name(CONFIG_MAP, rendered.revision), "items": items}},
        {
            "name": "boards",
            "projected": {
                "sources": [{"configMap": {"name": fixed_name(BOARDS_CONFIG_MAP, one.revision)}} for one in boards]
            },
        },
        {"name": "secrets", "projected": {"defaultMode": 0o440, "sources": _secrets(args)}},
        {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}} if own else _scratch("data", "256Mi"),
        _scratch("plugins", "2Gi"),
        _scratch("tmp", "256Mi"),
    ]


def _scratch(name: str, size: str) -> Manifest:
    return {"name": name, "emptyDir": {"sizeLimit": size}}


def _secrets(args: GrafanaArgs) -> list[dict[str, Any]]:
    """Each under the name that the configuration knows, from wherever it is kept."""
    found = [_entry(args.admin, ADMIN_FILE), _entry(args.encryption, ENCRYPTION_FILE)]
    if not isinstance(args.database, Sqlite):
        found.append(_entry(args.database.password, DATABASE_FILE))
        if args.database.authority is not None:
            found.append(_entry(args.database.authority, AUTHORITY_FILE))
    return found


def _entry(source: SecretSource, file: str) -> dict[str, Any]:
    name, key = (source.name, source.key) if isinstance(source, Existing) else (SECRET, file)
    return {"secret": {"name": name, "items": [{"key": key, "path": file}]}}
