"""One simulated GPU: load, and all that follows from it. Power follows load, heat follows power, energy adds up.

Numbers are those of an H100 SXM: 80 GB, 700 W, 1980 MHz. A GPU knows nothing of pods or pages.
"""

from __future__ import annotations

import math
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Final

IDLE_WATTS: Final = 70.0
LIMIT_WATTS: Final = 700.0
IDLE_MHZ: Final = 345
BOOST_MHZ: Final = 1980
MEMORY_MHZ: Final = 2619
MEMORY_MIB: Final = 81559
RESERVED_MIB: Final = 578
INLET_CELSIUS: Final = 28.0
CELSIUS_PER_WATT: Final = 0.055
WARM_UP_SECONDS: Final = 60.0
SLOWDOWN_CELSIUS: Final = 87.0
IDLE_LOAD: Final = 0.02  # below it the driver lets the clocks fall

# Bits of the clock event reasons: dcgm_fields.h, DCGM_CLOCKS_EVENT_REASON_*.
GPU_IDLE, POWER_CAP, HW_SLOWDOWN, SW_THERMAL, HW_THERMAL, HW_POWER_BRAKE = 0x1, 0x4, 0x8, 0x20, 0x40, 0x80
CLOCK_EVENTS: Final = {
    0x1: "gpu_idle",
    0x2: "clocks_setting",
    0x4: "power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "hw_power_brake",
    0x100: "display_clocks",
}
THERMAL: Final = SW_THERMAL | HW_THERMAL
POWER: Final = POWER_CAP | HW_POWER_BRAKE
PAUSE_EVERY, PAUSE = 1800.0, 45.0  # seconds: training writes a checkpoint, and its GPUs wait


@dataclass(frozen=True)
class Stress:
    """What an incident does to a GPU. celsius: its temperature. reasons: clock event bits. frozen: nothing moves."""

    celsius: float | None = None
    reasons: int = 0
    frozen: bool = False


CALM: Final = Stress()


@dataclass
class Memory:
    """Errors of the memory, since the driver was loaded (volatile) and ever."""

    sbe_volatile: int = 0
    dbe_volatile: int = 0
    sbe_ever: int = 0
    dbe_ever: int = 0
    remapped_uncorrectable: int = 0
    remap_failed: bool = False


@dataclass
class Events:
    """What the exporter counts by itself, since it started. xids: time and code. reasons: time and bits of a sample."""

    xids: deque[tuple[float, int]] = field(default_factory=deque)
    last_xid: int | None = None
    xid_totals: dict[int, int] = field(default_factory=dict)
    reasons: deque[tuple[float, int]] = field(default_factory=deque)
    reason_totals: dict[int, int] = field(default_factory=dict)


class Gpu:
    """State of one GPU at one moment; `advance` moves it on. Ratios are 0 to 1, energy is in millijoules."""

    def __init__(self, uuid: str, index: int, now: float) -> None:
        """uuid: also the seed of everything that differs between GPUs. now: seconds since the epoch."""
        self.uuid, self.index = uuid, index
        self.seed = zlib.crc32(uuid.encode()) / 2**32
        self.time = now
        self.held = False
        self.load = 0.0
        self.reasons = GPU_IDLE
        self.watts = IDLE_WATTS
        self.celsius = INLET_CELSIUS + CELSIUS_PER_WATT * IDLE_WATTS
        self.millijoules = 0.0
        self.throttled_ns = {THERMAL: 0.0, POWER: 0.0}
        self.nvlink_bytes = 0.0
        self.memory = Memory()
        self.events = Events()

    def target(self, now: float) -> float:
        """Load that the GPU's container asks for at a time: steady, waving a little, with pauses; nothing when free."""
        if not self.held:
            return 0.0
        if (now + self.seed * PAUSE_EVERY) % PAUSE_EVERY < PAUSE:
            return 0.04
        wave = math.sin(now / 97.0 + 6.28 * self.seed)
        return 0.88 + 0.05 * self.seed + 0.03 * wave

    def advance(self, now: float, stress: Stress, *, held: bool, keep: float) -> None:
        """Move on to `now`. held: whether a container has the GPU. keep: seconds for which clock samples are kept."""
        passed = max(0.0, now - self.time)
        self.time = now
        if stress.frozen:
            return
        self.held = held
        before, watts = self.reasons, self.watts
        self.load = self.target(now)
        self.reasons = stress.reasons | (GPU_IDLE if self.load < IDLE_LOAD else 0)
        self._warm(passed, stress)
        cut = 0.5 if self.reasons & (THERMAL | POWER | HW_SLOWDOWN) else 1.0
        self.load *= cut
        self.watts = IDLE_WATTS + (LIMIT_WATTS - 2 * IDLE_WATTS) * self.load + 4.0 * math.sin(now / 7.0 + self.seed)
        self.millijoules += (watts + self.watts) / 2 * passed * 1000
        self.nvlink_bytes = 4.2e11 * self.load
        for group in self.throttled_ns:
            if self.reasons & group:
                self.throttled_ns[group] += passed * 1e9
        self._count_reasons(before, keep)

    def _warm(self, passed: float, stress: Stress) -> None:
        """Heat follows power slowly; a GPU that is too hot slows its clocks."""
        if stress.celsius is not None:
            self.celsius = stress.celsius
        else:
            rest = INLET_CELSIUS + CELSIUS_PER_WATT * self.watts
            self.celsius += (rest - self.celsius) * (1 - math.exp(-passed / WARM_UP_SECONDS))
        if self.celsius >= SLOWDOWN_CELSIUS:
            self.reasons |= SW_THERMAL

    def _count_reasons(self, before: int, keep: float) -> None:
        """A sample for the window, and one more for each reason that was not there before."""
        samples = self.events.reasons
        samples.append((self.time, self.reasons))
        while samples and samples[0][0] < self.time - keep:
            samples.popleft()
        started = self.reasons & ~before
        for bit in CLOCK_EVENTS:
            if started & bit:
                self.events.reason_totals[bit] = self.events.reason_totals.get(bit, 0) + 1

    def fail(self, xid: int, now: float) -> None:
        """The driver reports an XID error."""
        self.events.xids.append((now, xid))
        self.events.last_xid = xid
        self.events.xid_totals[xid] = self.events.xid_totals.get(xid, 0) + 1

    def lose_bits(self, errors: int) -> None:
        """Double-bit errors in the memory: each takes a row out of use."""
        self.memory.dbe_volatile += errors
        self.memory.dbe_ever += errors
        self.memory.remapped_uncorrectable += errors

    def restart_exporter(self) -> None:
        """The exporter's process is new: what it counts by itself starts anew, and it has seen no XID."""
        self.events = Events()

    def reload_driver(self) -> None:
        """The driver is new too: energy, volatile errors and throttled time start at zero."""
        self.restart_exporter()
        self.millijoules = 0.0
        self.throttled_ns = dict.fromkeys(self.throttled_ns, 0.0)
        self.memory = Memory(
            sbe_ever=self.memory.sbe_ever,
            dbe_ever=self.memory.dbe_ever,
            remapped_uncorrectable=self.memory.remapped_uncorrectable,
            remap_failed=self.memory.remap_failed,
        )

    @property
    def sm_mhz(self) -> int:
        """Clock of the multiprocessors: high under load, halved when throttled, low when idle."""
        if self.load < IDLE_LOAD:
            return IDLE_MHZ
        cut = 2 if self.reasons & (THERMAL | POWER | HW_SLOWDOWN) else 1
        return int(BOOST_MHZ / cut - 60 * self.load)

    @property
    def used_mib(self) -> int:
        """Frame buffer that is in use: a container fills most of it, and keeps it while it pauses."""
        return int((0.60 + 0.32 * self.seed) * (MEMORY_MIB - RESERVED_MIB)) if self.held else 4

    @property
    def free_mib(self) -> int:
        """The rest, so that used, free and reserved add up to the capacity."""
        return MEMORY_MIB - RESERVED_MIB - self.used_mib

    @property
    def tensor_ratio(self) -> float:
        """Share of cycles in which the tensor pipe is active."""
        return 0.62 * self.load

    @property
    def dram_ratio(self) -> float:
        """Share of cycles in which the memory interface is active."""
        return 0.55 * self.load
