"""The Job that gives PostgreSQL a new password before anybody is told to use it.

PostgreSQL takes its password variable at the first start over empty data and never again, so a changed Secret alone
would lock everybody out. The Job is named after the generation: a higher one is another Job. It knows every earlier
password, since Jobs of generations before it may have failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.objects import Manifest, config_map, metadata
from components.pods import restricted_container, restricted_pod
from components.swanlab.credentials import PREVIOUS_KEY
from components.swanlab.names import (
    DATABASE,
    NAME,
    PORTS,
    ROTATION,
    SECRETS,
    object_labels,
    rotation_pods,
    service_name,
)
from components.swanlab.resources import resources

if TYPE_CHECKING:
    from components.swanlab.args import SwanlabArgs

SCRIPT_FILE: Final = "rotate.sh"
_DIRECTORY: Final = "/rotation"
_SECONDS: Final = 600
_ATTEMPTS: Final = 3

SCRIPT: Final = """\
set -eu
for directory in /usr/lib/postgresql/*/bin; do
  PATH="$PATH:$directory"
done
export PATH PGCONNECT_TIMEOUT=10
if [ -z "${SWANLAB_SELF_HOSTED_POSTGRES_SERVICE_HOST:-}" ]; then
  echo "no PostgreSQL is installed in this namespace yet: nothing to rotate"
  exit 0
fi
until pg_isready -q; do
  echo "PostgreSQL does not answer yet"
  sleep 2
done
if psql -X -q -c 'SELECT 1' >/dev/null 2>&1; then
  echo "the new password is valid already"
  exit 0
fi
NEW="$PGPASSWORD"
export NEW
for PGPASSWORD in $PREVIOUS; do
  export PGPASSWORD
  if psql -X -q -c 'SELECT 1' >/dev/null 2>&1; then
    found=yes
    break
  fi
done
if [ -z "${found:-}" ]; then
  echo "PostgreSQL takes neither the new password nor an earlier one: its data knows another root secret" >&2
  exit 1
fi
psql -X -q <<'SQL'
\\set VERBOSITY terse
SET log_statement TO 'none';
SET log_min_duration_statement TO -1;
SET log_min_error_statement TO 'panic';
\\set ON_ERROR_STOP on
\\getenv new NEW
SELECT format('ALTER ROLE %I PASSWORD %L', current_user, :'new') \\gexec
SQL
PGPASSWORD="$NEW"
psql -X -q -c 'SELECT 1' >/dev/null
echo "the new password is valid"
"""
"""What is printed holds no password, and the server is told not to log the statement that does."""


def script(args: SwanlabArgs) -> Manifest:
    """The ConfigMap with the script."""
    return config_map(ROTATION, args.namespace, object_labels(args.instance), {SCRIPT_FILE: SCRIPT}, {})


def job(args: SwanlabArgs) -> Manifest:
    """The Job for this generation. It is kept, so that it runs once; one that failed is made anew by the next `up`."""
    name = f"{ROTATION}-{args.own['postgres'].generation}"
    labels = object_labels(args.instance, args.images["swanlab-postgres"].version) | rotation_pods(args.instance)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(name, labels, args.namespace, {"pulumi.com/replaceUnready": "true"}),
        "spec": {
            "backoffLimit": _ATTEMPTS,
            "activeDeadlineSeconds": _SECONDS,
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(args)},
        },
    }


def _pod_spec(args: SwanlabArgs) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        # The address of the Service as a variable says whether there is one; a name that does not resolve would not.
        "enableServiceLinks": True,
        "restartPolicy": "Never",
        "securityContext": restricted_pod(),
        "imagePullSecrets": [{"name": name} for name in args.chart.pull_secrets],
        "containers": [
            {
                "name": "rotate",
                "image": args.images["swanlab-postgres"].reference,
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", f"{_DIRECTORY}/{SCRIPT_FILE}"],
                "env": _variables(),
                "resources": resources(args.size, "rotation"),
                "securityContext": restricted_container(),
                "volumeMounts": [{"name": "script", "mountPath": _DIRECTORY, "readOnly": True}],
            }
        ],
        "volumes": [{"name": "script", "configMap": {"name": ROTATION}}],
    }


def _variables() -> list[dict[str, Any]]:
    secret = SECRETS["postgres"]
    return [
        {"name": "PGHOST", "value": service_name("postgres")},
        {"name": "PGPORT", "value": str(PORTS["postgres"])},
        {"name": "PGDATABASE", "value": DATABASE},
        {"name": "PGAPPNAME", "value": f"{NAME}-rotation"},
        _from_secret("PGUSER", secret, "username"),
        _from_secret("PGPASSWORD", secret, "password"),
        _from_secret("PREVIOUS", ROTATION, PREVIOUS_KEY),
    ]


def _from_secret(name: str, secret: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
