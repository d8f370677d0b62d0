# SPDX-License-Identifier: GPL-2.0-or-later
"""What the verb about pools prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class PoolHost:
    """A host of a kind, as a probe found it."""

    kind: str = key("empty: any")
    host: str = ""
    cpus: int = 0
    own_cpus: int = 0
    memory_bytes: int = 0
    model: str = ""
    qemu: str = ""
    kvm: bool = False
    no_kvm: str = ""
    waited_share: float = 0.0
    stolen_share: float | None = None
    measures: bool = False
    why: str = ""
    down: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PoolResult:
    """Of `duet pool doctor`."""

    ok: bool = key("bool")
    pool: str = key("local, slurm or kubernetes")
    hosts: Sequence[PoolHost] = key()
