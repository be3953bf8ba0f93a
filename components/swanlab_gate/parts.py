"""Parts of SwanLab and how each is asked: addresses of the chart's services, or of stores of somebody else.

Health endpoints as the compose file of docker-next and the chart have them; the services' names are those of release
`<release>` (design of the chart: `<release>-<component>`).
"""

from __future__ import annotations

from dataclasses import dataclass

from components.swanlab_gate.args import Kind, Part


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Where the stores answer: `host:port`. s3: a web address with 200 at it, or `host:port`."""

    postgres: str
    redis: str
    clickhouse: str
    s3: str
    clickhouse_scheme: str = "http"

    @staticmethod
    def of_chart(release: str) -> Stores:
        """The stores that the chart deploys."""
        return Stores(
            postgres=f"{release}-postgres:5432",
            redis=f"{release}-redis:6379",
            clickhouse=f"{release}-clickhouse:8123",
            s3=f"http://{release}-s3:9000/minio/health/live",
        )


def parts(release: str, stores: Stores) -> tuple[Part, ...]:
    """Everything that must answer before SwanLab counts as up. release: name of the Helm release."""
    gateway = f"http://{release}"
    s3: Kind = "http" if "://" in stores.s3 else "tcp"
    return (
        Part(name="postgres", kind="postgres", address=stores.postgres),
        Part(name="redis", kind="redis", address=stores.redis),
        Part(
            name="clickhouse", kind="body", address=f"{stores.clickhouse_scheme}://{stores.clickhouse}/ping", body="Ok."
        ),
        Part(name="s3", kind=s3, address=stores.s3),
        Part(name="vector", kind="answers", address=f"{gateway}-vector:8686/"),
        Part(name="server", kind="body", address=f"{gateway}-server:3000/api", body="OK"),
        Part(name="auth", kind="http", address=f"{gateway}-auth:3000/api/auth/health"),
        Part(name="house", kind="http", address=f"{gateway}-house:3000/api/house/health"),
        Part(name="next", kind="http", address=f"{gateway}-next/"),
        Part(name="cloud", kind="http", address=f"{gateway}-cloud/"),
        Part(name="gateway", kind="http", address=f"{gateway}/"),
        Part(name="gateway-api", kind="body", address=f"{gateway}/api", body="OK"),
        # What only the parts among themselves may ask. Open, it is open to whoever reaches the gateway.
        Part(name="gateway-internal", kind="refused", address=f"{gateway}/api/internal"),
        Part(name="gateway-house-internal", kind="refused", address=f"{gateway}/api/house/internal"),
    )
