"""The page of a fixed state, written by hand from upstream's code of the tag 4.6.0-4.8.3."""

from __future__ import annotations

from sandbox.workloads.gpu.fields import Instance
from tests.offline.sandbox.workloads.gpu.fakes import TRAINER, Rig

COUNTERS = """\
DCGM_FI_DEV_XID_ERRORS, gauge, Last XID.
DCGM_FI_DEV_FB_USED, gauge, Used (in MiB).
DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, Row remapping.
DCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs in the window.
DCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs.
DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Clock events.
DCGM_FI_DRIVER_VERSION, label, Driver Version
"""
# In the order of their names, which is also that of samples on the page.
ZERO, ONE = "GPU-55c26aba-e074-5b07-88aa-e9df7b453b2d", "GPU-99d82df6-7599-5e8d-82db-034168470d63"
OF_ZERO = (
    f'gpu="0",UUID="{ZERO}",pci_bus_id="00000000:1B:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",'
    'hostname="n1",DCGM_FI_DRIVER_VERSION="580.95.05"'
)
OF_ONE = (
    f'gpu="1",UUID="{ONE}",pci_bus_id="00000000:43:00.0",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",'
    'hostname="n1",DCGM_FI_DRIVER_VERSION="580.95.05"'
)
POD = 'container="worker",namespace="team-research",pod="trainer-0"'
WINDOW = 'window_size_in_ms="300000"'
# The seed of a GPU decides how much of its memory a container fills; everything else is plain.
GOLDEN = f"""\
# HELP DCGM_EXP_CLOCK_EVENTS_COUNT Clock events.
# TYPE DCGM_EXP_CLOCK_EVENTS_COUNT gauge
DCGM_EXP_CLOCK_EVENTS_COUNT{{{OF_ONE},clock_event="gpu_idle",{WINDOW}}} 1
# HELP DCGM_EXP_XID_ERRORS_COUNT XIDs in the window.
# TYPE DCGM_EXP_XID_ERRORS_COUNT gauge
DCGM_EXP_XID_ERRORS_COUNT{{{OF_ZERO},{WINDOW},xid="48",{POD}}} 1
DCGM_EXP_XID_ERRORS_COUNT{{{OF_ONE},{WINDOW}}} 0
# HELP DCGM_EXP_XID_ERRORS_TOTAL XIDs.
# TYPE DCGM_EXP_XID_ERRORS_TOTAL counter
DCGM_EXP_XID_ERRORS_TOTAL{{{OF_ZERO},xid="48",{POD}}} 1
# HELP DCGM_FI_DEV_FB_USED Used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{{{OF_ZERO},{POD}}} USED
DCGM_FI_DEV_FB_USED{{{OF_ONE}}} 4
# HELP DCGM_FI_DEV_ROW_REMAP_FAILURE Row remapping.
# TYPE DCGM_FI_DEV_ROW_REMAP_FAILURE gauge
DCGM_FI_DEV_ROW_REMAP_FAILURE{{{OF_ZERO},{POD}}} 0
DCGM_FI_DEV_ROW_REMAP_FAILURE{{{OF_ONE}}} 1
# HELP DCGM_FI_DEV_XID_ERRORS Last XID.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{{{OF_ZERO},container="worker",err_code="48",err_msg="Double Bit ECC Error",\
namespace="team-research",pod="trainer-0"}} 48
"""


def test_page_of_a_fixed_state() -> None:
    rig = Rig(COUNTERS)
    rig.node.play({"kind": "xid", "gpu": 0, "code": 48}, rig.now)
    rig.node.play({"kind": "row_remap_failure", "gpu": 1}, rig.now)
    used = int(rig.value("DCGM_FI_DEV_FB_USED", 0))
    assert 40_000 < used < 80_000
    assert rig.page() == GOLDEN.replace(" USED\n", f" {used}\n")


def test_series_that_are_absent_until_something_happens() -> None:
    page = Rig(COUNTERS).page()
    assert "DCGM_FI_DEV_XID_ERRORS" not in page  # blank until the first XID
    assert "DCGM_EXP_XID_ERRORS_TOTAL" not in page
    assert 'window_size_in_ms="300000"} 0' in page  # no label xid while the window is empty


def test_device_without_a_pod_has_no_pod_labels() -> None:
    rig = Rig(COUNTERS)
    lines = [line for line in rig.page().splitlines() if line.startswith("DCGM_FI_DEV_FB_USED{")]
    assert [('pod="trainer-0"' in line, 'gpu="0"' in line) for line in lines if 'pod="' in line] == [(True, True)]
    assert len(lines) == 2


def test_handed_over_gpu_is_the_next_pods() -> None:
    rig = Rig(COUNTERS)
    rig.pods = {rig.uuids[1]: TRAINER}
    assert rig.values("DCGM_FI_DEV_FB_USED", pod="trainer-0", gpu="1") != []
    assert rig.values("DCGM_FI_DEV_FB_USED", pod="trainer-0", gpu="0") == []


def test_sliced_gpu_has_series_per_instance() -> None:
    slices = {0: tuple(Instance("1g.10gb", number) for number in range(7, 14))}
    more = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_PROF_DRAM_ACTIVE")
    text = COUNTERS + "".join(f"{name}, gauge, x\n" for name in more)
    rig = Rig(text, slices)
    rig.pods = {"0-9": TRAINER}  # the exporter looks an instance up by GPU and number
    assert len(rig.values("DCGM_FI_DEV_FB_USED", GPU_I_PROFILE="1g.10gb", gpu="0")) == 7
    assert len(rig.values("DCGM_FI_DEV_FB_USED", GPU_I_ID="9", pod="trainer-0")) == 1
    assert len(rig.values("DCGM_FI_DEV_GPU_TEMP", gpu="0")) == 7
    assert len(rig.values("DCGM_FI_PROF_DRAM_ACTIVE", gpu="0")) == 7
    assert rig.values("DCGM_FI_DEV_GPU_UTIL", gpu="0") == []  # DCGM has none for instances
    assert len(rig.values("DCGM_FI_DEV_GPU_UTIL", gpu="1")) == 1
    assert 'modelName="NVIDIA H100 80GB HBM3",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",hostname="n1"' in rig.page()


def test_no_gpu_is_an_empty_page_that_answers() -> None:
    rig = Rig(COUNTERS)
    rig.node.devices([], rig.now)
    assert rig.page() == ""
