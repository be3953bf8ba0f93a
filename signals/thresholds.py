"""Numbers that alerts compare with: one record per stack, defaults for a cluster of data-centre GPUs.

The settings of a stack hold this very record under `plumbline:thresholds`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Celsius = Annotated[float, Field(gt=0, lt=130)]


class Thresholds(BaseModel):
    """Every number that an alert compares with and that a team may want otherwise. Ratios are 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    gpu_temperature_celsius: _Celsius = Field(default=85.0, description="GPU temperature, °C")
    gpu_temperature_celsius_by_model: dict[str, _Celsius] = Field(
        default_factory=dict, description="exceptions: value of the label `modelName` → °C"
    )
    gpu_utilization_low: float = Field(default=0.10, gt=0, lt=1, description="ratio below which an allocated GPU idles")
    gpu_memory_high: float = Field(default=0.90, gt=0, lt=1, description="used share of the framebuffer")
    gpu_thermal_throttle: float = Field(
        default=0.10, gt=0, lt=1, description="share of time for which heat holds the clocks of a GPU back"
    )
    gpu_power_throttle: float = Field(
        default=0.80, gt=0, lt=1, description="share of time for which the power limit holds the clocks of a GPU back"
    )
    gpu_pcie_replays_per_minute: float = Field(default=8.0, gt=0, le=10_000, description="PCIe packets sent again")
    gpu_nvlink_crc_per_second: float = Field(default=100.0, gt=0, le=1e6, description="damaged NVLink packets")
    gpu_replicas: int = Field(
        default=1, ge=1, le=64, description="devices that the device plugin offers per GPU, above 1 with time-slicing"
    )
    filesystem_free_low: float = Field(
        default=0.15, gt=0, lt=1, description="free share of a file system below which it is watched for filling up"
    )
    filesystem_free_critical: float = Field(default=0.05, gt=0, lt=1, description="free share that is an emergency")
    volume_free_low: float = Field(default=0.10, gt=0, lt=1, description="free share of a claim's volume")
    inodes_free_low: float = Field(default=0.10, gt=0, lt=1, description="free share of a file system's inodes")
    memory_available_low: float = Field(
        default=0.10, gt=0, lt=1, description="available share of a node's memory below which kills are its own fault"
    )
    pressure_stalled_high: float = Field(
        default=0.20, gt=0, lt=1, description="share of time in which no process of a node gets on"
    )
    clock_skew_seconds: float = Field(default=2.0, ge=0.5, le=300, description="a node's clock against Prometheus'")
    network_errors_high: float = Field(default=0.01, gt=0, lt=1, description="share of packets damaged or dropped")
    rdma_timeouts_per_second: float = Field(
        default=1.0, gt=0, le=1e6, description="RDMA packets of one port that nobody confirms in time"
    )
    kernel_table_high: float = Field(
        default=0.80, gt=0, lt=1, description="used share of tracked connections or of open files of a node"
    )
    quota_high: float = Field(default=0.90, gt=0, lt=1, description="used share of a ResourceQuota")
    series_budget_high: float = Field(
        default=0.80, gt=0, lt=1, description="used share of a series budget, if it is about to be passed"
    )
    job_overdue_periods: float = Field(
        default=1.5, ge=1, le=100, description="periods after which a job that pushes its success is overdue"
    )
    swanlab_licence_days_low: float = Field(
        default=14.0, gt=0, le=365, description="days before its end from which SwanLab's licence is asked for"
    )
    swanlab_buffer_high: float = Field(
        default=0.80, gt=0, lt=1, description="used share of a delivery buffer of SwanLab"
    )
    object_store_errors_high: float = Field(
        default=0.05, gt=0, lt=1, description="share of requests to the object store that it fails"
    )
    recovery_unverified_periods: float = Field(
        default=2.0, ge=1, le=100, description="periods of verification in which a restore point must have been good"
    )
    recovery_shrink_high: float = Field(
        default=0.50, gt=0, lt=1, description="share of a store that its restore point lacks against the day before"
    )
    object_store_volumes_high: float = Field(
        default=0.90, gt=0, lt=1, description="share of the object store's volumes that are in use"
    )
    telemetry_queue_high: float = Field(
        default=0.80, gt=0, lt=1, description="used share of a queue of traces, logs or metrics that wait for a backend"
    )
    telemetry_memory_high: float = Field(
        default=0.90, gt=0, lt=1, description="used share of a collector's memory, beyond what its limiter holds back"
    )
    telemetry_volume_high: float = Field(
        default=0.80, gt=0, lt=1, description="share of the planned volume of logs or spans that is watched"
    )
    telemetry_late_spans_high: float = Field(
        default=0.05, gt=0, lt=1, description="share of spans that come after their trace was decided against"
    )
    telemetry_unaccounted_high: float = Field(
        default=0.01, gt=0, lt=1, description="share of what a collector took of which nobody knows where it is"
    )


class Sizing(BaseModel):
    """How large the cluster is expected to be: what series budgets and scrape limits are computed from."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    nodes: int = Field(default=10, gt=0, description="nodes")
    gpus_per_node: int = Field(default=8, ge=0, description="GPUs of the largest node; with MIG, instances")
    gpu_nodes: int = Field(default=10, ge=0, description="nodes with GPUs")
    pods_per_gpu: int = Field(
        default=1, ge=1, le=64, description="pods that hold one GPU at a time, above 1 with time-slicing or MPS"
    )
    api_servers: int = Field(default=3, gt=0, description="API servers, each scraped by itself")
    pods: int = Field(default=500, gt=0, description="pods of the whole cluster, finished ones included")
    pods_per_node: int = Field(default=110, gt=0, description="pods of the fullest node")
    log_records_per_second: int = Field(default=2000, gt=0, description="log records of the whole cluster")
    log_bytes_per_second: int = Field(default=1_000_000, gt=0, description="bytes of these records, as they are sent")
    spans_per_second: int = Field(
        default=2000, gt=0, description="spans of the whole cluster, before traces are sampled"
    )
