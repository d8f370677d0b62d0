# SPDX-License-Identifier: GPL-2.0-or-later
"""Grace periods: SRCU of the shrinkers where the arm has one, and RCU (kernel/rcu, 6.1).

Rows: seq f8 (the counter; its two lowest bits are the state; RCU's begins 300 cycles below 0),
state u1, done f8 (cycles ended).
Texts: shrinker_srcu (only on arms that have it), rcu, expedited.
Facts: has_srcu, srcu_gp_seq, srcu_gp_seq_needed, srcu_idx, readers_0 and readers_1 (inside, per
index), rcu_gp_seq, rcu_expedited.
"""

from __future__ import annotations

import struct

import numpy as np

from duet.lenses.clock import cpu_offsets
from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory
from duet.lenses.records import Reading

TITLE = "grace periods of SRCU and RCU"
STATE_BITS = 2
STATE_MASK = (1 << STATE_BITS) - 1


class Probe:
    """Reads the counters; `of` names another srcu_struct than shrinker_srcu."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        self._memory = memory
        self._name = of or "shrinker_srcu"
        self._srcu = kernel.address(of) if of else kernel.find(self._name)
        rcu = kernel.address("rcu_state")
        self._rcu = rcu + kernel.offset("struct rcu_state", "gp_seq")
        self._expedited = rcu + kernel.offset("struct rcu_state", "expedited_sequence")
        self._cpus = cpu_offsets(kernel, memory)
        if self._srcu is None:
            return
        kind = "struct srcu_struct"
        self._seq = kernel.offset(kind, "srcu_gp_seq")
        self._needed = kernel.offset(kind, "srcu_gp_seq_needed")
        self._idx = kernel.offset(kind, "srcu_idx")
        self._sda = kernel.offset(kind, "sda")
        self._locks = kernel.offset("struct srcu_data", "srcu_lock_count")
        self._unlocks = kernel.offset("struct srcu_data", "srcu_unlock_count")

    def sample(self) -> Reading:
        """See Probe.sample()."""
        memory = self._memory
        names, seqs = [], []
        facts: dict[str, float] = {"has_srcu": float(self._srcu is not None)}
        if self._srcu is not None:
            names.append(self._name)
            seqs.append(_signed(memory.u64(self._srcu + self._seq)))
            facts |= self._srcu_facts(self._srcu, seqs[0])
        names += ["rcu", "expedited"]
        seqs += [_signed(memory.u64(at)) for at in (self._rcu, self._expedited)]
        facts |= {"rcu_gp_seq": float(seqs[-2]), "rcu_expedited": float(seqs[-1])}
        return Reading(
            n=len(seqs),
            columns={
                "seq": np.array(seqs, "<f8"),
                "state": np.array([seq & STATE_MASK for seq in seqs], "u1"),
                "done": np.array([seq >> STATE_BITS for seq in seqs], "<f8"),
            },
            facts=facts,
            texts=tuple(names),
        )

    def _srcu_facts(self, srcu: int, seq: int) -> dict[str, float]:
        """Return SRCU's counters. Readers are locks minus unlocks; unlocks are read first."""
        memory = self._memory
        sda = memory.u64(srcu + self._sda)
        inside = [0, 0]
        if sda:
            for base in self._cpus:
                unlocks = struct.unpack("<2Q", memory.once(sda + base + self._unlocks, 16))
                locks = struct.unpack("<2Q", memory.once(sda + base + self._locks, 16))
                for index in (0, 1):
                    inside[index] += locks[index] - unlocks[index]
        (idx,) = struct.unpack("<I", memory.once(srcu + self._idx, 4))
        return {
            "srcu_gp_seq": float(seq),
            "srcu_gp_seq_needed": float(_signed(memory.u64(srcu + self._needed))),
            "srcu_idx": float(idx & 1),
            "readers_0": float(inside[0]),
            "readers_1": float(inside[1]),
        }


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
