"""What Grafana must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from components.grafana.datasources import Stores
    from components.images import ImagePin
    from components.prometheus.args import Resources
    from components.secrets import Existing, SecretSource


@dataclass(frozen=True, kw_only=True)
class Sqlite:
    """A file on a claim of its own: one writer. volume: Kubernetes quantity."""

    volume: str
    storage_class: str | None


@dataclass(frozen=True, kw_only=True)
class External:
    """A database that somebody else runs.

    tls: `verify` checks certificate and name, `encrypt` neither, `off` sends everything in clear. authority: entry of a
    Secret with the certificates to check with, None for those of the image.
    """

    kind: Literal["postgres", "mysql"]
    host: str
    port: int
    name: str
    user: str
    password: Existing
    tls: Literal["verify", "encrypt", "off"]
    authority: Existing | None = None


@dataclass(frozen=True, kw_only=True)
class Plugins:
    """Plugins beside those of the image. names: `id@version`.

    image: which has a directory per plugin below `path`, and a shell; None: each pod fetches them when it starts.
    """

    names: tuple[str, ...]
    image: str | None = None
    path: str = "/plugins"


@dataclass(frozen=True, kw_only=True)
class GrafanaArgs:
    """Everything that decides what Grafana runs and shows.

    stack: whose boards and accounts the claim holds. admin: password of account `admin`; generation: of it, also where
    somebody else keeps it: a higher one restarts the pods, which set it. encryption: key of what the database keeps
    encrypted. root_url: address for people, None where there is none. open_to: namespaces whose pods get in beside
    the stack's own. boards: file name → JSON.
    """

    stack: str
    namespace: str
    image: ImagePin
    replicas: int
    database: Sqlite | External
    admin: SecretSource
    generation: int
    encryption: SecretSource
    root_url: str | None
    open_to: tuple[str, ...]
    plugins: Plugins | None
    stores: Stores
    boards: dict[str, str]
    resources: Resources
    network_policies: bool


@dataclass(frozen=True, kw_only=True)
class ExistingGrafanaArgs:
    """What a Grafana is given that a team already runs.

    namespace: the stack's. grafana_namespace: where it runs, and its sidecar looks. board_labels, datasource_labels: by
    which the sidecar selects ConfigMaps. folder_annotation: in which it reads the folder's name. stores, boards: as in
    GrafanaArgs. opened: name → (labels of pods, ports) of stores that this stack's policies close to everybody else.
    """

    namespace: str
    grafana_namespace: str
    board_labels: dict[str, str]
    datasource_labels: dict[str, str]
    folder_annotation: str
    stores: Stores
    boards: dict[str, str]
    opened: dict[str, tuple[dict[str, str], tuple[int, ...]]]
