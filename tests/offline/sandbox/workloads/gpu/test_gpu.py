"""Values of a GPU go together: load, power, heat, clocks, energy, memory."""

from __future__ import annotations

import pytest

from sandbox.workloads.gpu.fields import FIELDS, Instance
from sandbox.workloads.gpu.gpu import CALM, HW_POWER_BRAKE, MEMORY_MIB, Gpu, Stress
from sandbox.workloads.gpu.identity import gpu_uuid, indices, pci_bus_id
from tests.offline.sandbox.workloads.gpu.fakes import NOW

DAY = 86_400
COUNTERS = [name for name in FIELDS if name.endswith(("_VIOLATION", "_CONSUMPTION", "_COUNTER"))]


def run(gpu: Gpu, seconds: float, *, held: bool, stress: Stress = CALM, step: float = 30.0) -> None:
    """Let time pass in steps of the exporter's interval."""
    end = gpu.time + seconds
    while gpu.time < end:
        gpu.advance(min(end, gpu.time + step), stress, held=held, keep=300)


@pytest.fixture
def gpu() -> Gpu:
    """A GPU that nobody holds."""
    made = Gpu(gpu_uuid("n1", 0), 0, NOW)
    run(made, 600, held=False)
    return made


def value(gpu: Gpu, name: str) -> float:
    """Value of a field, which must not be blank."""
    found = FIELDS[name].of_gpu(gpu)
    assert found is not None
    return found


def test_free_gpu_is_idle_cool_and_nearly_empty(gpu: Gpu) -> None:
    assert value(gpu, "DCGM_FI_DEV_GPU_UTIL") == 0
    assert value(gpu, "DCGM_FI_DEV_SM_CLOCK") == 345
    assert 60 <= value(gpu, "DCGM_FI_DEV_POWER_USAGE") <= 80
    assert 28 <= value(gpu, "DCGM_FI_DEV_GPU_TEMP") <= 35
    assert value(gpu, "DCGM_FI_DEV_FB_USED") < 10


def test_held_gpu_works_hot_and_full(gpu: Gpu) -> None:
    run(gpu, 900, held=True)
    while gpu.target(gpu.time) < 0.5:  # not in a checkpoint's pause
        run(gpu, 30, held=True)
    assert value(gpu, "DCGM_FI_DEV_GPU_UTIL") >= 80
    assert value(gpu, "DCGM_FI_DEV_SM_CLOCK") > 1800
    assert 500 <= value(gpu, "DCGM_FI_DEV_POWER_USAGE") <= 700
    assert 50 <= value(gpu, "DCGM_FI_DEV_GPU_TEMP") < 87
    assert value(gpu, "DCGM_FI_DEV_FB_USED") > 0.5 * MEMORY_MIB


def test_heat_follows_power_slowly(gpu: Gpu) -> None:
    cool = gpu.celsius
    gpu.advance(gpu.time + 5, CALM, held=True, keep=300)
    after_five = gpu.celsius
    run(gpu, 300, held=True)
    assert cool <= after_five < cool + 5 < gpu.celsius


def test_a_day_stays_within_bounds_and_counts_up_alone(gpu: Gpu) -> None:
    before = {name: value(gpu, name) for name in COUNTERS}
    for step in range(DAY // 60):
        gpu.advance(gpu.time + 60, CALM, held=step % 480 < 400, keep=300)
        parts = [value(gpu, f"DCGM_FI_DEV_FB_{part}") for part in ("USED", "FREE", "RESERVED")]
        assert sum(parts) == MEMORY_MIB
        assert min(parts) >= 0
        assert all(0 <= value(gpu, name) <= 1 for name, field in FIELDS.items() if "_ACTIVE" in name and field)
        assert 0 <= value(gpu, "DCGM_FI_DEV_GPU_UTIL") <= 100
        assert abs(value(gpu, "DCGM_FI_DEV_GPU_UTIL") - 100 * value(gpu, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")) <= 0.5
        assert value(gpu, "DCGM_FI_DEV_POWER_USAGE") <= 700
        now = {name: value(gpu, name) for name in COUNTERS}
        assert all(now[name] >= before[name] for name in COUNTERS)
        assert now["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] > before["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]
        before = now
    assert value(gpu, "DCGM_FI_DEV_THERMAL_VIOLATION") == value(gpu, "DCGM_FI_DEV_POWER_VIOLATION") == 0


def test_energy_is_power_times_time(gpu: Gpu) -> None:
    start, watts, seconds = gpu.millijoules, [gpu.watts], 600
    for _ in range(seconds):
        gpu.advance(gpu.time + 1, CALM, held=True, keep=300)
        watts.append(gpu.watts)
    mean = (sum(watts) - (watts[0] + watts[-1]) / 2) / seconds
    assert gpu.millijoules - start == pytest.approx(mean * seconds * 1000, rel=1e-9)


def test_heat_slows_the_clocks_and_is_counted(gpu: Gpu) -> None:
    run(gpu, 900, held=True)
    fast, watts = gpu.sm_mhz, gpu.watts
    run(gpu, 60, held=True, stress=Stress(celsius=93))
    assert value(gpu, "DCGM_FI_DEV_GPU_TEMP") == 93
    assert gpu.sm_mhz < 0.6 * fast
    assert gpu.watts < watts
    assert value(gpu, "DCGM_FI_DEV_THERMAL_VIOLATION") == 60e9
    assert value(gpu, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS") == 0x20


def test_power_brake_is_counted_apart(gpu: Gpu) -> None:
    run(gpu, 30, held=True, stress=Stress(reasons=HW_POWER_BRAKE))
    assert (value(gpu, "DCGM_FI_DEV_POWER_VIOLATION"), value(gpu, "DCGM_FI_DEV_THERMAL_VIOLATION")) == (30e9, 0)


def test_frozen_gpu_does_not_move_and_makes_no_jump_afterwards(gpu: Gpu) -> None:
    before = {name: field.of_gpu(gpu) for name, field in FIELDS.items()}
    run(gpu, 3600, held=True, stress=Stress(frozen=True))
    assert {name: field.of_gpu(gpu) for name, field in FIELDS.items()} == before
    energy = gpu.millijoules
    run(gpu, 30, held=False)
    assert gpu.millijoules - energy < 30 * 100 * 1000


def test_load_follows_from_uuid_and_time_alone() -> None:
    same = [Gpu(gpu_uuid("n1", 0), 0, NOW) for _ in range(2)]
    other = Gpu(gpu_uuid("n1", 1), 1, NOW)
    for item in (*same, other):
        run(item, 900, held=True)
    assert same[0].load == same[1].load != other.load


def test_new_driver_starts_at_zero_but_remembers_what_the_board_does(gpu: Gpu) -> None:
    gpu.lose_bits(2)
    gpu.fail(48, gpu.time)
    gpu.reload_driver()
    assert value(gpu, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION") == 0
    assert value(gpu, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL") == 0
    assert value(gpu, "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL") == 2
    assert value(gpu, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS") == 2
    assert FIELDS["DCGM_FI_DEV_XID_ERRORS"].of_gpu(gpu) is None


def test_new_exporter_forgets_only_what_it_counted(gpu: Gpu) -> None:
    energy = gpu.millijoules
    gpu.fail(48, gpu.time)
    gpu.restart_exporter()
    assert gpu.millijoules == energy
    assert (gpu.events.last_xid, gpu.events.xid_totals) == (None, {})


def test_memory_of_an_instance_adds_up(gpu: Gpu) -> None:
    instance = Instance("1g.10gb", 7)
    parts = [FIELDS[f"DCGM_FI_DEV_FB_{part}"].of_instance for part in ("USED", "FREE", "RESERVED")]
    found = [read(gpu, instance) for read in parts if read is not None]
    assert sum(part for part in found if part is not None) == 10 * 1024 - 256


def test_uuids_differ_by_node_and_index_and_stay() -> None:
    made = {gpu_uuid(node, index) for node in ("n1", "n2") for index in range(8)}
    assert len(made) == 16
    assert gpu_uuid("n1", 3) in made


def test_indices_are_found_again_and_strangers_follow() -> None:
    ids = [gpu_uuid("n1", 5), gpu_uuid("n1", 0), "GPU-z", "GPU-y"]
    assert indices("n1", ids) == {ids[0]: 5, ids[1]: 0, "GPU-y": 16, "GPU-z": 17}


def test_bus_ids_differ() -> None:
    assert len({pci_bus_id(index) for index in range(16)}) == 16
    assert pci_bus_id(0) == "00000000:1B:00.0"
