# SPDX-License-Identifier: GPL-2.0-or-later
"""The trace events of a built kernel, with the fields that are numbers. Boots nothing.

TRACE_EVENT makes three things of an event (include/trace/trace_events.h, 6.1): `event_NAME`, a
struct trace_event_call, whose class names the group; `event_class_TEMPLATE`; and a struct
trace_event_raw_TEMPLATE, whose members are the fields. Events of system calls are made when the
kernel boots and are not among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from duet.errors import InfraError
from duet.kernels import dwarf
from duet.kernels.elf_data import ElfData, open_data
from duet.kernels.image import KernelImage

CALL, CLASS, RAW = "event_", "event_class_", "trace_event_raw_"
OWN_GROUP = "ftrace"
"""Events of it cannot be switched on: what the tracers write of themselves."""
POINTER_BYTES = 8
MOST_COLUMNS = 48
"""MAX_FIELDS of decode/_pages.c."""
NO_FIELDS = ("ent", "__data")
PLACES = ("__data_loc_", "__rel_loc_")
"""Members that say where a text or an array lies."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event.

    Args:
        template: of the structure with its fields; several events may share one.
    """

    group: str
    name: str
    template: str

    @property
    def path(self) -> str:
        """As tracefs names it: group/name."""
        return f"{self.group}/{self.name}"


def trace_events(image: KernelImage) -> tuple[TraceEvent, ...]:
    """The events of a stored kernel, in order of their paths; read once.

    Raises:
        InfraError: its files cannot be read.
    """
    try:
        return _events(image.folder)
    except (OSError, ValueError) as error:
        raise InfraError(
            f"the trace events of the kernel in {image.folder} cannot be read: {error}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error


def number_fields(image: KernelImage, event: TraceEvent, most: int) -> tuple[str, ...]:
    """Names of the first fields of an event that are numbers or addresses."""
    names = dwarf.number_members(image.vmlinux, f"struct {RAW}{event.template}")
    plain = (n for n in names if n not in NO_FIELDS and not n.startswith(PLACES))
    return tuple(plain)[:most]


def is_too_wide(image: KernelImage, event: TraceEvent) -> bool:
    """Whether its format has more fields than the decoder keeps of an event."""
    count = dwarf.member_count(image.vmlinux, f"struct {RAW}{event.template}")
    return count - len(NO_FIELDS) > MOST_COLUMNS


def matching(events: tuple[TraceEvent, ...], pattern: str) -> tuple[TraceEvent, ...]:
    """Those whose 'group:name' a glob matches, such as 'sched:*' or '*:rcu_grace_period'."""
    return tuple(e for e in events if fnmatchcase(f"{e.group}:{e.name}", pattern))


@lru_cache(maxsize=16)
def _events(folder: Path) -> tuple[TraceEvent, ...]:
    vmlinux = folder / "vmlinux"
    class_at = dwarf.read(vmlinux, "offsetof struct trace_event_call.class")
    system_at = dwarf.read(vmlinux, "offsetof struct trace_event_class.system")
    calls: dict[str, int] = {}
    templates: dict[int, str] = {}
    # Whether a symbol is a variable is not asked of its letter: that of .data may be t (7.3).
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
    """The event whose pointer to its class lies at `at`; None: it is no event of TRACE_EVENT."""
    group = data.pointer(at)
    if group not in templates:
        return None
    system = data.text(data.pointer(group + system_at))
    return None if system == OWN_GROUP else TraceEvent(system, name, templates[group])
