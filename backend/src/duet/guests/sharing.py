# SPDX-License-Identifier: GPL-2.0-or-later
"""Several vCPUs on the count clock: they share QEMU's one thread, each in its turn.

QEMU 7.2 gives every vCPU of a round what is left until the next timer of the guest's clock, and
timers are run when the round is over. So the first one takes all, the second finds nothing left,
and a kernel that waits for its second CPU waits for ever. A vCPU that finds nothing left has the
timers run, however, and the one behind it gets a whole turn. Hence every second vCPU is left
switched off: the guest boots on CPU 0 and brings up CPUs 2, 4, 6 and so on itself. From QEMU 8.1
on a turn is divided among all vCPUs, and the same guest runs, with shorter turns.
docs/COUNT-CLOCK.md has what was measured. Pure.
"""

from __future__ import annotations

from typing import Final

SLICE_US: Final = 10
"""Guest time after which a vCPU has to let the next one run, in QEMU 7.2."""

SHARING_CMDLINE: Final = ("maxcpus=1", "noreplace-smp")
"""The kernel leaves the other CPUs to user space, and its LOCK prefixes alone meanwhile."""


def smp_args(vcpus: int) -> list[str]:
    """QEMU's arguments for so many vCPUs in one thread, and for the timer that ends a turn.

    The timer is that of a packet filter on a network with nobody on it: it does nothing, every
    SLICE_US of the guest's clock.
    """
    if vcpus == 1:
        return ["-smp", "1"]
    return [
        *("-smp", str(2 * vcpus - 1)),
        *("-netdev", "hubport,id=turns,hubid=0"),
        *("-object", f"filter-buffer,id=turn,netdev=turns,interval={SLICE_US}"),
    ]


def online_lines(vcpus: int) -> list[str]:
    """Lines of the agent's plan that bring up the other vCPUs."""
    return [f"write /sys/devices/system/cpu/cpu{2 * n}/online 1" for n in range(1, vcpus)]


def sharing_words(vcpus: int) -> str:
    """'one vCPU', or how many share the thread and how long a turn is."""
    if vcpus == 1:
        return "one vCPU"
    turn = f"{SLICE_US} us a turn, so busy waiting is not counted well"
    return f"{vcpus} vCPUs in one thread, {turn}"
