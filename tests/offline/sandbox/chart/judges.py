"""What the chart must keep: pure functions from rendered objects to complaints. Expected values are of the facts.

Sources: the tables of workloads, networking and storage of the official chart, written out by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import settings
from tests.offline.sandbox.chart.render import RELEASE, Manifest, environment, main_container, named, pods, workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STATELESS: Final = ("gateway", "server", "auth", "house", "cloud", "next")
STORES: Final = ("postgres", "redis", "clickhouse", "s3")
COMPONENTS: Final = (*STATELESS, "vector", *STORES)
REPLICAS: Final = {
    **{"gateway": 2, "server": 2, "auth": 2, "house": 2, "cloud": 1, "next": 2, "vector": 2},
    **dict.fromkeys(STORES, 1),
}
SERVICE_PORTS: Final = {
    "gateway": [80, 8080, 8081, 9100],
    "server": [3000],
    "auth": [3000],
    "house": [3000],
    "cloud": [80],
    "next": [80],
    "vector": [8686],
    "postgres": [5432],
    "redis": [6379],
    "clickhouse": [8123],
    "s3": [9000],
}
CONTAINER_PORTS: Final = SERVICE_PORTS | {"next": [3000], "vector": [8686, 9090]}
WAITS: Final = {
    "server": ["redis:6379", "postgres:5432"],
    "auth": ["redis:6379"],
    "house": ["redis:6379", "clickhouse:8123", "vector:8686"],
    "next": ["server:3000", "cloud:80", "house:3000"],
}
USERS: Final = {
    **{"server": 1000, "auth": 65532, "house": 65532, "gateway": 65532, "next": 1001},
    **{"redis": 1000, "s3": 1000, "postgres": 999, "clickhouse": 101},
    **{"cloud": 65532, "vector": 65532},  # not known of the official chart
}
CLAIM_SIZES: Final = {"postgres": "10Gi", "redis": "10Gi", "clickhouse": "20Gi", "s3": "20Gi"}
FIXED: Final = {
    "postgres": {"POSTGRES_USER": "swanlab", "POSTGRES_PASSWORD": "swanlab-postgres"},
    "clickhouse": {"CLICKHOUSE_USER": "swanlab", "CLICKHOUSE_PASSWORD": "swanlab-clickhouse"},
}


def full_name(component: str) -> str:
    """Name of the component's objects; the gateway has the release's."""
    return RELEASE if component == "gateway" else f"{RELEASE}-{component}"


def every_component_has_its_objects(manifests: list[Manifest]) -> Iterator[str]:
    """Kinds and names of what others look for."""
    expected = {("Service", full_name(name)) for name in COMPONENTS}
    expected |= {("StatefulSet" if name == "vector" else "Deployment", full_name(name)) for name in COMPONENTS}
    expected |= {("PersistentVolumeClaim", f"{full_name(name)}-pvc") for name in STORES}
    expected |= {("Secret", f"{full_name(name)}-credentials") for name in STORES}
    expected |= {("Job", f"{RELEASE}-s3-init-buckets"), ("ConfigMap", f"{RELEASE}-s3-init-buckets")}
    expected |= {("ConfigMap", f"{RELEASE}-gateway-config")}
    found = [(m["kind"], m["metadata"]["name"]) for m in manifests]
    yield from (f"{kind} {name} is missing" for kind, name in sorted(expected - set(found)))
    yield from (f"{kind} {name} is not known" for kind, name in sorted(set(found) - expected))
    yield from (f"{kind} {name} is there twice" for kind, name in set(found) if found.count((kind, name)) > 1)


def labels_are_the_official_ones(manifests: list[Manifest]) -> Iterator[str]:
    """Labels of pods, and selectors that find them and nothing else."""
    for name, workload in workloads(manifests).items():
        selector = {
            "app.kubernetes.io/name": "self-hosted",
            "app.kubernetes.io/instance": RELEASE,
            "app.kubernetes.io/provider": "swanlab",
            "app.kubernetes.io/component": f"self-hosted-{name}",
        }
        if workload["spec"]["template"]["metadata"]["labels"] != selector | {"app.kubernetes.io/service": name}:
            yield f"pods of {name} have other labels"
        if workload["spec"]["selector"]["matchLabels"] != selector:
            yield f"{name} selects by other labels"
        if named(manifests, "Service", full_name(name))["spec"]["selector"] != selector:
            yield f"the Service of {name} selects by other labels"


def ports_are_the_official_ones(manifests: list[Manifest]) -> Iterator[str]:
    """Ports of Services, and of containers, which network policies count by."""
    for name, pod in pods(manifests).items():
        ports = named(manifests, "Service", full_name(name))["spec"]["ports"]
        opened = main_container(pod)["ports"]
        if [port["port"] for port in ports] != SERVICE_PORTS[name]:
            yield f"the Service of {name} has other ports"
        if [port["containerPort"] for port in opened] != CONTAINER_PORTS[name]:
            yield f"the container of {name} has other ports"
        if not {port["targetPort"] for port in ports} <= {port["name"] for port in opened}:
            yield f"the Service of {name} leads to a port that no container has"


def containers_are_called_as_their_component(manifests: list[Manifest]) -> Iterator[str]:
    """`kubectl logs -c <component>` and metrics by container."""
    yield from (f"{name}'s container has another name" for name, pod in pods(manifests).items() if _called(pod) != name)


def _called(pod: Manifest) -> str:
    return str(main_container(pod)["name"])


def replicas_are_the_official_ones(manifests: list[Manifest]) -> Iterator[str]:
    """Two of the stateless ones and of the buffer; one of each store, never two at once on one claim."""
    for name, workload in workloads(manifests).items():
        if workload["spec"]["replicas"] != REPLICAS[name]:
            yield f"{name} has {workload['spec']['replicas']} replicas"
        if (name in STORES) != (workload["spec"].get("strategy") == {"type": "Recreate"}):
            yield f"{name} is replaced in another way"


def only_the_buffer_has_probes(manifests: list[Manifest]) -> Iterator[str]:
    """A gate of one's own is needed on the official chart, so it must be needed here."""
    for name, pod in pods(manifests).items():
        probes = {key: value for key, value in main_container(pod).items() if key.endswith("Probe")}
        tcp = {"tcpSocket": {"port": "http"}}
        asked = {key: {"tcpSocket": probe.get("tcpSocket")} for key, probe in probes.items()}
        if asked != ({"livenessProbe": tcp, "readinessProbe": tcp} if name == "vector" else {}):
            yield f"{name} has other probes"


def nothing_has_default_resources(manifests: list[Manifest]) -> Iterator[str]:
    """Requests and limits are whoever deploys it to give."""
    yield from (f"{name} has resources" for name, pod in pods(manifests).items() if "resources" in main_container(pod))


def each_waits_for_what_it_needs(manifests: list[Manifest]) -> Iterator[str]:
    """Init container `ping`."""
    for name, pod in pods(manifests).items():
        pings = [c for c in pod.get("initContainers", ()) if c["name"] == "ping"]
        found = [address for ping in pings for address in ping["command"][4:]]
        if found != [f"{RELEASE}-{address}" for address in WAITS.get(name, ())]:
            yield f"{name} waits for {found}"


def buffer_keeps_its_claims(manifests: list[Manifest]) -> Iterator[str]:
    """Claims `data-<release>-vector-N`, which may be made before, and the name that the pods have in DNS."""
    spec = named(manifests, "StatefulSet", f"{RELEASE}-vector")["spec"]
    templates = spec["volumeClaimTemplates"]
    if [t["metadata"]["name"] for t in templates] != ["data"]:
        yield "the template of its claims is not called data"
    if [t["spec"]["resources"]["requests"]["storage"] for t in templates] != ["40Gi"]:
        yield "its claims are of another size"
    if spec.get("serviceName") != f"{RELEASE}-vector":
        yield "it names no Service of its own"
    mounts = main_container(spec["template"]["spec"])["volumeMounts"]
    if {"name": "data", "mountPath": environment(manifests, "vector")["DATA_DIR"]} not in mounts:
        yield "its data directory is not on its claim"


def stores_are_on_their_claims(manifests: list[Manifest]) -> Iterator[str]:
    """The very directory that the program writes to is a mount of the claim."""
    where = {
        "postgres": "/var/lib/postgresql/data",
        "redis": "/data",
        "clickhouse": "/var/lib/clickhouse",
        "s3": "/data",
    }
    for name, path in where.items():
        pod = pods(manifests)[name]
        claims = {
            v["name"]: v["persistentVolumeClaim"]["claimName"]
            for v in pod["volumes"]
            if len(v) > 1 and "persistentVolumeClaim" in v
        }
        mounts = {m["mountPath"]: m for m in main_container(pod)["volumeMounts"]}
        if path not in mounts or claims.get(mounts[path]["name"]) != f"{full_name(name)}-pvc":
            yield f"{path} of {name} is not on its claim"
        size = named(manifests, "PersistentVolumeClaim", f"{full_name(name)}-pvc")["spec"]["resources"]["requests"]
        if size != {"storage": CLAIM_SIZES[name]}:
            yield f"the claim of {name} is of another size"
    if environment(manifests, "postgres")["PGDATA"] != where["postgres"]:
        yield "PGDATA is not the directory that is mounted"


def credentials_fall_back_to_fixed_ones(manifests: list[Manifest]) -> Iterator[str]:
    """As in the official chart: what refuses empty passwords must have something to refuse."""
    for name, expected in FIXED.items():
        found = environment(manifests, name)
        yield from (f"{name} has another {key}" for key, value in expected.items() if found.get(key) != value)
    server = environment(manifests, "server")
    url = f"postgres://swanlab:swanlab-postgres@{RELEASE}-postgres:5432/app"
    expected = {
        **{"PRIMARY_URL": url, "REPLICA_URL": url, "REDIS_URL": f"redis://default@{RELEASE}-redis:6379"},
        **{"S3_ACCESS_KEY": "swanlab", "S3_SECRET_KEY": "swanlab-s3"},
    }
    yield from (f"server has another {key}" for key, value in expected.items() if server.get(key) != value)


def processes_understand_their_environment(manifests: list[Manifest]) -> Iterator[str]:
    """The stand-in's own parser reads it, and nothing is left at a default that the chart should have set."""
    readers: dict[str, Callable[[dict[str, str]], Any]] = {
        **{"server": settings.api, "house": settings.api, "auth": settings.auth, "vector": settings.vector},
        **{"cloud": settings.pages, "next": settings.pages},
    }
    found: dict[str, Any] = {}
    for name, read in readers.items():
        try:
            parsed = read(environment(manifests, name))
        except settings.SettingsError as error:
            yield f"{name}: {error}"
        else:
            if parsed.port != CONTAINER_PORTS[name][0]:
                yield f"{name} listens on {parsed.port}"
            found[name] = parsed
    if len(found) < len(readers):
        return
    house, vector = found["house"], found["vector"]
    if house.vector_url != f"http://{RELEASE}-vector:8686" or house.abort_after != 1800:
        yield "house has another buffer or another clock"
    if (house.s3.endpoint, house.s3.region, house.s3.public_url) != (f"http://{RELEASE}-s3:9000", "local", ""):
        yield "house has another object store"
    if (vector.buffer_max_bytes, vector.flush_seconds, vector.metrics_port) != (10737418240, 5.0, 9090):
        yield "the buffer has other limits"


def gateway_has_the_official_routes(manifests: list[Manifest]) -> Iterator[str]:
    """Which path leads where, what is denied, and no limit to a body."""
    conf = named(manifests, "ConfigMap", f"{RELEASE}-gateway-config")["data"]["nginx.conf"]
    web = conf.partition("listen 80;")[2].partition("listen 8080;")[0]
    routes = {
        **{"/": "next", "/api": "server", "/api/auth": "auth", "/api/house": "house"},
        **{"/swanlab-private": "s3", "/swanlab-public": "s3"},
    }
    for path, component in routes.items():
        block = web.partition(f"location {path} {{")[2].partition("}")[0]
        if (
            f"http://{RELEASE}-{component}.plumbline-swanlab.svc.cluster.local:{SERVICE_PORTS[component][0]};"
            not in block
        ):
            yield f"{path} does not lead to {component}"
    for path in ("/api/internal", "/api/house/internal"):
        if "return 403;" not in web.partition(f"location ^~ {path} {{")[2].partition("}")[0]:
            yield f"{path} is open"
    for line in ("client_max_body_size 0;", "proxy_set_header Host $http_host;", "include /tmp/resolver.conf;"):
        if line not in conf:
            yield f"its configuration lacks `{line}`"
    if "proxy_pass http" in conf:
        yield "an address is resolved once, when nginx starts"
    if "location = /ping {" not in conf.partition("listen 8081;")[2].partition("listen 9100;")[0]:
        yield "there is no /ping"
