"""Grafana's configuration: its ini file, and what it is provisioned with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from components.fixed_config import revision_of
from components.grafana.args import Sqlite
from components.grafana.datasources import datasources_file
from components.grafana.names import (
    ADMIN_FILE,
    AUTHORITY_FILE,
    BOARDS_PATH,
    CONFIG_FILE,
    DATA_PATH,
    DATABASE_FILE,
    DATASOURCES_FILE,
    ENCRYPTION_FILE,
    FOLDER,
    FOLDER_UID,
    LOGIN,
    PLUGINS_PATH,
    PORT,
    PROVIDER_FILE,
    PROVISIONING_PATH,
    secret_path,
)
from components.rendered import Rendered
from signals.yamltext import dump

if TYPE_CHECKING:
    from components.grafana.args import External, GrafanaArgs, Plugins

Ini = dict[str, dict[str, str]]

_BROUGHT: Final = (
    "grafana-lokiexplore-app",
    "grafana-pyroscope-app",
    "grafana-exploretraces-app",
    "grafana-metricsdrilldown-app",
)
"""What Grafana 11.6 fetches from the internet when it starts, whatever the settings say (setting_plugins.go)."""
_SSL_MODES: Final = {
    "postgres": {"verify": "verify-full", "encrypt": "require", "off": "disable"},
    "mysql": {"verify": "true", "encrypt": "skip-verify", "off": "false"},
}
_NO, _YES = "false", "true"


def render(args: GrafanaArgs) -> Rendered:
    """The files of the ConfigMap. A secret is in none of them: each says in which file it is found."""
    files = {
        CONFIG_FILE: _ini_text(ini(args)),
        DATASOURCES_FILE: datasources_file(args.stores, default=True),
        PROVIDER_FILE: dump(provider()),
    }
    return Rendered(files=files, revision=revision_of(files))


def provider() -> dict[str, Any]:
    """Where boards lie, and in which folder they are shown.

    A board that the stack has no more goes: left behind, its panels would be empty for good. Nobody else deletes or
    changes one; a copy in another folder is theirs.
    """
    found = {
        "name": "plumbline",
        "orgId": 1,
        "type": "file",
        "folder": FOLDER,
        "folderUid": FOLDER_UID,
        "disableDeletion": False,
        "allowUiUpdates": False,
        "updateIntervalSeconds": 30,
        "options": {"path": BOARDS_PATH, "foldersFromFilesStructure": False},
    }
    return {"apiVersion": 1, "providers": [found]}


def ini(args: GrafanaArgs) -> Ini:
    """Section → key → value. What the defaults have right is not repeated, but for what keeps people out."""
    found: Ini = {
        "paths": {"data": DATA_PATH, "plugins": PLUGINS_PATH, "provisioning": PROVISIONING_PATH},
        "server": {"http_port": str(PORT)} | ({"root_url": args.root_url} if args.root_url else {}),
        "database": _database(args.database),
        "security": _security(args),
        "users": {"allow_sign_up": _NO, "allow_org_create": _NO, "viewers_can_edit": _NO},
        "auth.anonymous": {"enabled": _NO},
        "auth.basic": {"enabled": _YES},
        "log": {"mode": "console"},
        "log.console": {"format": "json"},
        "metrics": {"enabled": _YES},
        # The stack's alerts are Prometheus' and go through its Alertmanager. One that was made here would have
        # nobody to tell, so none is evaluated; rules and silences of Prometheus are shown and made all the same.
        "unified_alerting": {"execute_alerts": _NO},
    }
    return found | _outside() | {"plugins": _plugins(args.plugins)}


def _security(args: GrafanaArgs) -> dict[str, str]:
    """Cookies of a login go over TLS alone where people come by TLS."""
    by_tls = args.root_url is not None and urlsplit(args.root_url).scheme == "https"
    return {
        "admin_user": LOGIN,
        "admin_password": _in_file(ADMIN_FILE),
        "secret_key": _in_file(ENCRYPTION_FILE),
        "disable_gravatar": _YES,
        "cookie_secure": _YES if by_tls else _NO,
        "cookie_samesite": "lax",
        "allow_embedding": _NO,
    }


def _outside() -> Ini:
    """Nothing is told to, or asked of, anybody outside."""
    quiet = ("reporting_enabled", "check_for_updates", "check_for_plugin_updates", "feedback_links_enabled")
    return {
        "analytics": dict.fromkeys(quiet, _NO),
        "snapshots": {"external_enabled": _NO, "public_mode": _NO},
        "public_dashboards": {"enabled": _NO},
        "news": {"news_feed_enabled": _NO},
    }


def _plugins(wanted: Plugins | None) -> dict[str, str]:
    """Fetched before Grafana serves: a datasource whose plugin comes later is red until somebody loads the page anew.

    `preinstall_disabled` would switch off a list of ours as well, hence the names of what Grafana brings.
    """
    found = {"plugin_admin_enabled": _NO, "public_key_retrieval_disabled": _YES}
    if wanted is None or wanted.image is not None:
        return {**found, "preinstall_disabled": _YES}
    return {
        **found,
        "preinstall": ",".join(wanted.names),
        "preinstall_async": _NO,
        "disable_plugins": ",".join(_BROUGHT),
    }


def _database(wanted: Sqlite | External) -> dict[str, str]:
    if isinstance(wanted, Sqlite):
        return {"type": "sqlite3", "path": "grafana.db"}
    found = {
        "type": wanted.kind,
        "host": f"{wanted.host}:{wanted.port}",
        "name": wanted.name,
        "user": wanted.user,
        "password": _in_file(DATABASE_FILE),
        "ssl_mode": _SSL_MODES[wanted.kind][wanted.tls],
    }
    if wanted.authority is not None:
        found["ca_cert_path"] = secret_path(AUTHORITY_FILE)
    if wanted.kind == "mysql" and wanted.tls == "verify":
        # Without it Grafana refuses to verify: it does not take the name that it connects to.
        found["server_cert_name"] = wanted.host
    return found


def _in_file(file: str) -> str:
    """Grafana's own word for the content of a file, without the line's end."""
    return f"$__file{{{secret_path(file)}}}"


def _ini_text(sections: Ini) -> str:
    parts = (
        "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in keys.items())])
        for name, keys in sections.items()
    )
    return "\n\n".join(parts) + "\n"
