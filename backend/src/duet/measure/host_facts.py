# SPDX-License-Identifier: GPL-2.0-or-later
"""The host of each comparison that ran on a pool, and when two hosts are alike. Pure.

Times of hosts that differ are never part of one verdict. On the count clock a figure does not hang
on the CPU, so these may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SHORT = 12
"""Digits of a hash that are shown."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Where a comparison ran.

    Args:
        comparison: its condition in words.
        table: index of its table in the report.
        layout: the further link that it ran; 0 is the usual one.
        node: as the pool names the host.
        cpu: its model.
        qemu: its version; "": no guest was up.
        accel: tcg or kvm; "": no guest was up.
        kernels: arm -> SHA-256 of its bzImage there.
        root: SHA-256 of the guests' root there.
        waited_share: the most that a guest of an untraced run waited for a CPU that others had;
            None on the count clock, where that changes no figure.
        again: why it ran a second time, as a sentence; "": it did not.
    """

    comparison: str
    table: int
    layout: int
    node: str
    cpu: str = ""
    qemu: str = ""
    accel: str = ""
    kernels: Mapping[str, str] = field(default_factory=dict)
    root: str = ""
    waited_share: float | None = None
    again: str = ""


def other_kernels(one: HostFacts, other: HostFacts) -> list[str]:
    """Arms whose kernels differ."""
    both = [arm for arm in one.kernels if arm in other.kernels]
    return [arm for arm in both if one.kernels[arm] != other.kernels[arm]]


def differences(one: HostFacts, other: HostFacts) -> list[str]:
    """In what two hosts differ so that their times are not comparable; empty: they are alike."""
    pairs = (
        ("CPU model", one.cpu, other.cpu),
        ("QEMU version", one.qemu, other.qemu),
        ("accelerator", one.accel, other.accel),
        ("guests' root", one.root, other.root),
    )
    found = [name for name, ours, theirs in pairs if ours and theirs and ours != theirs]
    return found + [f"kernel of {arm}" for arm in other_kernels(one, other)]


def other_inputs(one: HostFacts, other: HostFacts) -> list[str]:
    """What a run of the count clock depends on and two hosts do not share, with both values."""
    found = [
        f"the kernel of {arm} (SHA-256 {one.kernels[arm][:SHORT]} and {other.kernels[arm][:SHORT]})"
        for arm in other_kernels(one, other)
    ]
    if one.qemu != other.qemu and one.qemu and other.qemu:
        found.append(f"QEMU ({one.qemu} and {other.qemu})")
    if one.accel != other.accel and one.accel and other.accel:
        found.append(f"the accelerator ({one.accel} and {other.accel})")
    if one.root != other.root:
        found.append(
            f"the guests' root (SHA-256 {one.root[:SHORT] or 'unknown'} and"
            f" {other.root[:SHORT] or 'unknown'})"
        )
    return found


def unlike(hosts: Iterable[HostFacts]) -> list[str]:
    """In what any of several hosts differs from the first; empty: all are alike."""
    first, *others = [*hosts] or [HostFacts("", 0, 0, "")]
    return list(dict.fromkeys(word for other in others for word in differences(first, other)))


def host_words(facts: HostFacts) -> str:
    """'n=9 on n1: Example CPU, QEMU 7.2.22 (tcg), guests waited for a CPU 3 % at most'."""
    guest = f"QEMU {facts.qemu} ({facts.accel})" if facts.qemu else "no guest was up"
    parts = [facts.cpu, guest]
    if facts.waited_share is not None:
        parts.append(f"guests waited for a CPU {100 * facts.waited_share:.0f} % at most")
    said = f"{facts.comparison} on {facts.node}: {', '.join(part for part in parts if part)}."
    return f"{said} {facts.again}".rstrip()
