# SPDX-License-Identifier: GPL-2.0-or-later
"""Check which functions of a built kernel accept a kprobe event, without booting the kernel.

The rules are those of kernel/trace/trace_kprobe.c and kernel/kprobes.c of 6.1. The kernel refuses
functions that ftrace does not know (unless CONFIG_KPROBE_EVENTS_ON_NOTRACE is set), functions on
the kprobes blacklist, and functions in certain sections.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from duet.base.errors import InfraError
from duet.kernels.elf_data import ElfData, open_data
from duet.kernels.image import KernelImage
from duet.kernels.vmlinux import ask as dwarf

CLOSED = (
    ("__entry_text", "entry"),
    ("__kprobes_text", "kprobes"),
    ("__noinstr_text", "noinstr"),
)
"""Sections whose functions refuse probes, given by the prefix of the symbols NAME_start and
NAME_end."""
NEAREST = 5
_NOTRACE = "CONFIG_KPROBE_EVENTS_ON_NOTRACE=y"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why a function cannot be probed. `why` completes the sentence 'NAME ...'."""

    why: str
    remedy: str


class Functions:
    """The functions of one kernel.

    Args:
        symbols: (address, whether it is code, name) in file order.
        traced: sorted addresses of ftrace hooks; None if the kernel also allows probes on functions
            without a hook.
        listed: addresses of functions on the kprobes blacklist.
    """

    def __init__(
        self,
        symbols: list[tuple[int, bool, str]],
        traced: tuple[int, ...] | None,
        listed: tuple[int, ...],
    ) -> None:
        self.names = {name: address for address, _, name in reversed(symbols)}
        self._times = Counter(name for _, code, name in symbols if code)
        self._code = self._times.keys()
        self._starts = sorted({address for address, _, _ in symbols})
        self._traced = traced
        self._listed = frozenset(listed)

    def refusal(self, name: str) -> Refusal | None:
        """Return why a kprobe event on this function would fail; None if the event would work."""
        if name not in self._code:
            return self._absent(name)
        if self._times[name] > 1:
            why = f"there are {self._times[name]} functions of this name, but a probe needs one"
            return Refusal(why, "Probe a function that it calls, or one that calls it.")
        address = self.names[name]
        if self._between(address, "_sinittext", "_einittext"):
            why = "it is __init code, which is freed at the end of boot"
            return Refusal(why, "Probe a function that runs later.")
        for section, what in CLOSED:
            if self._between(address, f"{section}_start", f"{section}_end"):
                return Refusal(f"it is {what} code, which refuses probes", _CALLER)
        if address in self._listed:
            return Refusal("it is on the blacklist of kprobes", _CALLER)
        if self._traced is not None and not self._has_hook(address):
            why = "it is built without tracing (notrace), as most of lib/ is"
            return Refusal(why, _CALLER)
        return None

    def _absent(self, name: str) -> Refusal:
        if name in self.names:
            return Refusal("it is data, not a function", "Name a function.")
        made = sorted(known for known in self._code if known.startswith(f"{name}."))
        if made:
            why = f"the compiler turned it into {', '.join(made[:NEAREST])}"
            return Refusal(why, f"Probe {made[0]}, or a function that calls it.")
        why = "there is no such function; it may be inlined"
        return Refusal(why, "Probe a function that calls it, or correct the name.")

    def _between(self, address: int, start: str, end: str) -> bool:
        return self.names.get(start, 0) <= address < self.names.get(end, 0)

    def _has_hook(self, address: int) -> bool:
        assert self._traced is not None
        at = bisect_right(self._starts, address)
        end = self._starts[at] if at < len(self._starts) else address + 1
        hook = bisect_left(self._traced, address)
        return hook < len(self._traced) and self._traced[hook] < end


_CALLER = "Probe a function that calls it."


def read_functions(image: KernelImage) -> Functions:
    """Read the functions of a stored kernel; results are cached.

    Raises:
        InfraError: its files cannot be read.
    """
    try:
        return _read(image.folder)
    except (OSError, ValueError, struct.error) as error:
        raise InfraError(
            f"wanted the functions of the kernel in {image.folder}, but cannot read them: {error}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error


@lru_cache(maxsize=32)
def _read(folder: Path) -> Functions:
    import numpy as np  # slow, and the events below do not need it

    text = (folder / "System.map").read_text(encoding="ascii")
    # Lines of address, type letter and name. The letter is ignored, because variables in .data can
    # have the type letter of code (Linux 7.3).
    words = text.split()
    addresses = np.frombuffer(bytes.fromhex("".join(words[::3])), ">u8").astype(np.uint64)
    numbers, names = addresses.tolist(), words[2::3]
    places = dict(zip(names, numbers, strict=True))
    with open_data(folder / "vmlinux") as data:
        symbols = list(zip(numbers, data.are_code(addresses).tolist(), names, strict=True))
        listed = _addresses(data, places, "__start_kprobe_blacklist", "__stop_kprobe_blacklist")
        traced = _addresses(data, places, "__start_mcount_loc", "__stop_mcount_loc")
    asks = _NOTRACE not in (folder / "config").read_text(encoding="utf-8").splitlines()
    return Functions(symbols, tuple(sorted(traced)) if asks and traced else None, listed)


def _addresses(data: ElfData, places: dict[str, int], start: str, end: str) -> tuple[int, ...]:
    """Read the array of addresses between two symbols."""
    if start not in places or end not in places:
        return ()
    low, high = places[start], places[end]
    count = (high - low) // 8
    return struct.unpack(f"<{count}Q", data.bytes(low, count * 8))


# List a built kernel's trace events and their numeric fields, without booting the kernel.
#
# TRACE_EVENT defines three things (include/trace/trace_events.h, 6.1): `event_NAME`, a struct
# trace_event_call, whose class names the group; `event_class_TEMPLATE`; and a struct
# trace_event_raw_TEMPLATE, whose members are the fields. Syscall events are created at boot and are
# not found here.

CALL, CLASS, RAW = "event_", "event_class_", "trace_event_raw_"
OWN_GROUP = "ftrace"
"""Event group of the tracers' own records, which cannot be enabled as events."""
POINTER_BYTES = 8
MOST_COLUMNS = 48
"""MAX_FIELDS in decode/_pages.c."""
NO_FIELDS = ("ent", "__data")
PLACES = ("__data_loc_", "__rel_loc_")
"""Prefixes of members that hold the offset of a string or an array."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One trace event.

    Args:
        template: TEMPLATE in the name of the event's structure; several events may share a
            template.
    """

    group: str
    name: str
    template: str

    @property
    def path(self) -> str:
        return f"{self.group}/{self.name}"


def trace_events(image: KernelImage) -> tuple[TraceEvent, ...]:
    """Return the events of a stored kernel, sorted by path. Results are cached.

    Raises:
        InfraError: its files cannot be read.
    """
    try:
        return _events(image.folder)
    except (OSError, ValueError) as error:
        raise InfraError(
            f"wanted the trace events of the kernel in {image.folder}, but cannot read them:"
            f" {error}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error


def number_fields(image: KernelImage, event: TraceEvent, most: int) -> tuple[str, ...]:
    """Return the names of an event's first `most` fields that are numbers or addresses."""
    names = dwarf.number_members(image.vmlinux, f"struct {RAW}{event.template}")
    plain = (n for n in names if n not in NO_FIELDS and not n.startswith(PLACES))
    return tuple(plain)[:most]


def is_too_wide(image: KernelImage, event: TraceEvent) -> bool:
    """Whether the event's format has more fields than the decoder keeps."""
    count = dwarf.member_count(image.vmlinux, f"struct {RAW}{event.template}")
    return count - len(NO_FIELDS) > MOST_COLUMNS


def matching(events: tuple[TraceEvent, ...], pattern: str) -> tuple[TraceEvent, ...]:
    """Filter events by a glob on 'group:name', such as 'sched:*' or '*:rcu_grace_period'."""
    return tuple(e for e in events if fnmatchcase(f"{e.group}:{e.name}", pattern))


@lru_cache(maxsize=16)
def _events(folder: Path) -> tuple[TraceEvent, ...]:
    vmlinux = folder / "vmlinux"
    class_at = dwarf.read(vmlinux, "offsetof struct trace_event_call.class")
    system_at = dwarf.read(vmlinux, "offsetof struct trace_event_class.system")
    calls: dict[str, int] = {}
    templates: dict[int, str] = {}
    # The type letter is no sign of code: variables in .data may have the letter t (Linux 7.3).
    for line in (folder / "System.map").read_text(encoding="ascii").splitlines():
        address, _letter, name = line.split(" ", 2)
        if name.startswith(CLASS):
            templates[int(address, 16)] = name.removeprefix(CLASS)
        elif name.startswith(CALL):
            calls[name.removeprefix(CALL)] = int(address, 16)
    with open_data(vmlinux) as data:
        found = [
            _event(data, name, at + class_at, system_at, templates)
            for name, at in calls.items()
            if data.holds(at + class_at, POINTER_BYTES)
        ]
    return tuple(sorted((e for e in found if e is not None), key=lambda event: event.path))


def _event(
    data: ElfData, name: str, at: int, system_at: int, templates: dict[int, str]
) -> TraceEvent | None:
    """Return the event with the class pointer at `at`; None if it is not from TRACE_EVENT."""
    group = data.pointer(at)
    if group not in templates:
        return None
    system = data.text(data.pointer(group + system_at))
    return None if system == OWN_GROUP else TraceEvent(system, name, templates[group])
