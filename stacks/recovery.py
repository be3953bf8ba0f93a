"""Section of the settings: restore points of SwanLab, their verification, and the bucket that they go to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.fields import Bytes, Cron, DnsSubdomain, Duration, HttpUrl, ImageRef, Text
from stacks.section import Section

Volume = Annotated[Bytes, Field(pattern=r"^[1-9][0-9]*(Mi|Gi|Ti)$")]
Days = Annotated[int, Field(ge=1, le=3650)]
_ACCOUNT = "existing Secret with keys accessKey, secretKey"
_SCRATCH = "size of its volume while a verification runs; without it that of SwanLab's store"


class OwnTarget(Section):
    """A second object store of this stack, for throw-away stacks: it fails with the cluster that it is in."""

    volume: Volume = Field(default="20Gi", description="size of the claim in Mi, Gi or Ti")
    generation: int = Field(default=1, ge=1, description="of its keys; a higher number is a rotation")


class ExternalTarget(Section):
    """A bucket elsewhere, made with object lock and a default retention of at least `lock_days` in COMPLIANCE mode."""

    endpoint: HttpUrl = Field(description="address of S3 with scheme, and without the bucket")
    bucket: DnsSubdomain = Field(description="name of the bucket")
    region: Text = Field(default="us-east-1", description="region that signatures name")
    writer_secret: DnsSubdomain = Field(
        description=f"{_ACCOUNT}, in SwanLab's namespace and in recovery's: may put objects and nothing else"
    )
    reader_secret: DnsSubdomain = Field(
        description=f"{_ACCOUNT}, in SwanLab's namespace and in recovery's: may read and list"
    )
    pruner_secret: DnsSubdomain = Field(
        description=f"{_ACCOUNT}, in recovery's namespace: may also delete what is no longer locked"
    )


class Target(Section):
    """Where restore points go. Exactly one of own and external."""

    own: OwnTarget | None = Field(default=None, description="an object store in recovery's namespace: keys volume, …")
    external: ExternalTarget | None = Field(
        default=None, description="a bucket elsewhere: keys endpoint, bucket, region, writer_secret, …"
    )


class Schedule(Section):
    """When each job runs, in UTC."""

    create: Cron = Field(default="0 */6 * * *", description="making a restore point")
    verify: Cron = Field(default="30 3 * * *", description="restoring the newest one and comparing it")
    prune: Cron = Field(default="30 5 * * *", description="deleting those that are no longer kept")


class Retention(Section):
    """Which restore points stay."""

    keep_last: int = Field(default=7, ge=1, le=10000, description="that many of the newest, whatever their age")
    keep_days: Days = Field(default=30, description="and all that are younger than that many days")
    lock_days: Days = Field(default=14, description="days for which nobody can delete what was written")


class Scratch(Section):
    """Room for the stores that live as long as a verification, and for a run itself."""

    postgres: Volume | None = Field(default=None, description=f"PostgreSQL: {_SCRATCH}")
    clickhouse: Volume | None = Field(default=None, description=f"ClickHouse: {_SCRATCH}")
    redis: Volume | None = Field(default=None, description=f"Redis: {_SCRATCH}")
    work: Volume = Field(default="10Gi", description="most that a run keeps on the disk of its node")


class Recovery(Section):
    """Restore points of SwanLab: made, verified by restoring them, and pruned."""

    mode: Literal["managed", "off"] = Field(default="off", description="`managed`: run by this stack; `off`: none")
    image: ImageRef | None = Field(default=None, description="image of recovery/; on stack local it is built")
    target: Target = Field(default_factory=Target, description="keys own or external")
    schedule: Schedule = Field(default_factory=Schedule, description="keys create, verify, prune")
    retention: Retention = Field(default_factory=Retention, description="keys keep_last, keep_days, lock_days")
    rpo: Duration = Field(default="8h", description="how much may be lost: the newest good point is never older")
    rto: Duration = Field(default="4h", description="how long a restore may take")
    recovery_public_key: Text | None = Field(
        default=None,
        pattern=r"^plumbline-recovery-public-1:[A-Za-z0-9_-]{43}$",
        description="key for which the stack's Secrets are sealed into each point; its private half is in no cluster; "
        "without it they are left out",
    )
    cross_check: bool = Field(
        default=False,
        description="true if a verification holds PostgreSQL, ClickHouse and objects against each other as well; that "
        "needs a SwanLab whose schema is known, and the vendor publishes none",
    )
    scratch: Scratch = Field(default_factory=Scratch, description="keys postgres, clickhouse, redis, work")
    gate: Literal["enforced", "off"] = Field(
        default="enforced",
        description="`enforced`: a durable stack changes a pin of SwanLab or of its databases only behind a verified "
        "point; `off`: without one, for an emergency, and set back afterwards",
    )
    gate_max_age: Duration = Field(
        default="24h", description="an upgrade begins only behind a verified point that is younger"
    )
