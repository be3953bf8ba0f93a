"""Section of the settings: Grafana, deployed by this stack or run already by a team."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stacks.alerting import SecretEntry
from stacks.fields import Bytes, DnsName, DnsSubdomain, HttpUrl, ImageRef, LabelValue, SecretKey, Text
from stacks.section import Section

_PORTS = {"postgres": 5432, "mysql": 3306}


class GrafanaDatabase(Section):
    """Where accounts, preferences and boards that people make are kept."""

    kind: Literal["sqlite", "postgres", "mysql"] = Field(
        default="sqlite", description="`sqlite`: a file on a claim, one replica; else a database of yours"
    )
    volume: Bytes = Field(default="5Gi", description="for `sqlite`: size of the claim")
    host: Text | None = Field(default=None, description="for a database of yours: name or address, without a port")
    port: int | None = Field(default=None, gt=0, lt=65536, description="without it 5432 or 3306")
    name: Text | None = Field(default=None, description="name of the database, which exists and is empty at first")
    user: Text | None = Field(default=None, description="account that owns it")
    secret: SecretEntry | None = Field(default=None, description="Secret with its password: keys name, key")
    tls: Literal["verify", "encrypt", "off"] = Field(
        default="verify", description="`verify`: certificate and name are checked; `encrypt`: neither; `off`: in clear"
    )
    authority_key: SecretKey | None = Field(
        default=None, description="key in the same Secret that holds the certificates to check with; MySQL needs it"
    )

    @property
    def listens(self) -> int:
        """The port, given or usual."""
        return self.port or _PORTS.get(self.kind, 0)


class GrafanaAdmin(Section):
    """The account `admin`."""

    secret: SecretEntry | None = Field(
        default=None, description="existing Secret with its password: keys name, key; without it one is derived"
    )
    generation: int = Field(
        default=1, ge=1, description="a higher number is a rotation: another derived one, or the Secret read anew"
    )


class GrafanaPlugins(Section):
    """Plugins beside those of the image; that of VictoriaLogs is one, and logs are not shown without it."""

    source: Literal["none", "image", "preinstall"] = Field(
        default="none",
        description="`image`: copied from an image of yours; `preinstall`: fetched from grafana.com at each start",
    )
    names: tuple[Text, ...] = Field(default=(), description="list of `id@version`: what the image has, or is fetched")
    image: ImageRef | None = Field(
        default=None, description="for `image`: has a directory per plugin below `path`, and a shell"
    )
    path: Text = Field(default="/plugins", description="for `image`: where they are in it")


class ExistingGrafana(Section):
    """A Grafana that a team runs, with the sidecar of its chart: it gets datasources and boards, and no workload."""

    namespace: DnsName = Field(description="where it runs; ConfigMaps are made there")
    dashboard_labels: dict[str, LabelValue] = Field(
        default_factory=lambda: {"grafana_dashboard": "1"}, description="by which its sidecar selects boards"
    )
    datasource_labels: dict[str, LabelValue] = Field(
        default_factory=lambda: {"grafana_datasource": "1"}, description="by which its sidecar selects datasources"
    )
    folder_annotation: Text = Field(
        default="grafana_folder", description="in which its sidecar reads the name of a board's folder"
    )
    service: DnsSubdomain = Field(default="grafana", description="its Service")
    port: int = Field(default=80, gt=0, lt=65536, description="port of that Service")
    scheme: Literal["http", "https"] = Field(default="http", description="`http` or `https`")
    url: HttpUrl | None = Field(default=None, description="address at which smoke asks it, instead of the Service")


class Grafana(Section):
    """Boards over everything that the stack measures."""

    mode: Literal["managed", "existing", "off"] = Field(
        default="off", description="`managed`: deployed by this stack; `existing`: run by a team already; or `off`"
    )
    replicas: int = Field(default=1, ge=1, le=16, description="more than one needs a database of yours")
    database: GrafanaDatabase = Field(
        default_factory=GrafanaDatabase, description="keys kind, volume, host, name, user, secret, …"
    )
    admin: GrafanaAdmin = Field(default_factory=GrafanaAdmin, description="keys secret, generation")
    encryption: SecretEntry | None = Field(
        default=None,
        description="existing Secret with the key of what the database keeps encrypted: keys name, key; without it one "
        "is derived, once and for all",
    )
    root_url: HttpUrl | None = Field(
        default=None, description="address for people, scheme and host; with https cookies go over TLS alone"
    )
    open_to: tuple[DnsName, ...] = Field(
        default=(), description="namespaces whose pods get in, an ingress controller's for one"
    )
    plugins: GrafanaPlugins = Field(default_factory=GrafanaPlugins, description="keys source, names, image, path")
    memory: Bytes = Field(default="512Mi", description="memory that it may not pass; half of it is set aside")
    existing: ExistingGrafana | None = Field(
        default=None, description="for mode `existing`: keys namespace, dashboard_labels, datasource_labels, …"
    )
