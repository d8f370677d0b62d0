# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet pool doctor`: lease one host of each kind, probe it, and say whether it may measure."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit, note
from duet.plugins.cluster.types import POOLS, Kind, Pool, PoolSettings, Refusal, Want

if TYPE_CHECKING:
    from duet.plugins.cluster.probe import Facts


@dataclass(frozen=True, slots=True)
class PoolHost:
    """A host that was probed as a sample of its kind."""

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
    ok: bool = key("bool")
    pool: str = key("local, slurm or kubernetes")
    hosts: Sequence[PoolHost] = key()


KEYS = keys_text(PoolResult)


def pool(
    action: Annotated[str, typer.Argument(help="doctor: check one host of each kind.")] = "doctor",
    pool: Annotated[
        str, typer.Option("--pool", help="local, slurm or kubernetes; default: $DUET_POOL.")
    ] = "",
    as_json: Json = False,
) -> int:
    """Reserve one host of each kind in a pool and check it.

    A probe reports the CPUs, the memory, QEMU's version, whether a guest boots under KVM, how long
    a busy program waited for a CPU, and whether the host may measure. docs/CLUSTER.md names the
    settings.
    """
    if action not in ACTIONS:
        raise InputError(
            f"./duet pool has no action '{action:.40}'.", remedy="Run: ./duet pool doctor"
        )
    if pool and pool not in POOLS:
        raise InputError(f"'{pool:.40}' is no pool.", remedy=f"Choose from: {', '.join(POOLS)}.")
    settings = PoolSettings.from_environment()
    settings = replace(settings, pool=pool) if pool else settings
    hosts = asyncio.run(probed(settings))
    ok = bool(hosts) and all(one.qemu for one in hosts)
    if as_json:
        emit(PoolResult(ok, settings.pool, hosts))
    else:
        print("\n".join(table(hosts)))
    return 0 if ok else 3


ACTIONS = ("doctor",)
MEMORY_BYTES = 512 << 20
WITHIN_S = 20.0
"""How long doctor waits for a host of each kind."""
TTL_S = 180.0
"""Time limit for a probe. Usual: 2 s, and 10 s more if it boots a guest under KVM."""
PASSED_ON = ("DUET_CACHE", "DUET_ROOT")


async def probed(settings: PoolSettings) -> list[PoolHost]:
    """Probe one host of each kind."""
    from duet.plugins.cluster.choose import open_pool

    async with open_pool(settings) as opened:
        kinds = await opened.kinds()
        if isinstance(kinds, Refusal):
            return [PoolHost("", why=kinds.sentence)]
        rows = [await probe_kind(opened, kind) for kind in kinds]
        return [replace(row, down=tuple(k.down)) for row, k in zip(rows, kinds, strict=True)]


async def probe_kind(opened: Pool, kind: Kind) -> PoolHost:
    """Reserve a host, with exclusive CPUs if possible, and probe it."""
    from duet.plugins.cluster.probe import Facts

    note(f"pool: checking a host of the kind {kind.name or '(any)'}")
    want = Want(
        memory_bytes=MEMORY_BYTES,
        exclusive=True,
        within_s=WITHIN_S,
        ttl_s=TTL_S,
        kind=kind.name,
    )
    no_cpus = ""
    lease = await opened.reserve(want)
    if isinstance(lease, Refusal):
        no_cpus = lease.sentence
        lease = await opened.reserve(replace(want, exclusive=False))
    if isinstance(lease, Refusal):
        return PoolHost(kind.name, why=lease.sentence)
    try:
        words = [opened.python, "-P", "-s", "-m", "duet.plugins.cluster.probe_program"]
        env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        ended = await (await lease.start(words, env)).wait()
    finally:
        await lease.release()
    try:
        facts = Facts.from_text(ended.output)
    except ValueError:
        why = ended.lost or ended.last_line or f"the probe ended with {ended.code}"
        return PoolHost(kind.name, lease.hosts[0], why=f"the probe failed: {why}")
    return host_of(kind, lease.hosts[0], facts, no_cpus)


def host_of(kind: Kind, host: str, facts: Facts, no_cpus: str) -> PoolHost:
    """Make a row, and judge whether times that are measured on this host are valid."""
    from duet.measure.run import BUSY

    why = no_cpus
    if not facts.qemu:
        why = "no QEMU is installed"
    elif facts.waited_share > BUSY:
        why = f"a busy program waited for a CPU for {facts.waited_share:.0%} of its time"
    elif (facts.stolen_share or 0.0) > BUSY:
        why = f"a hypervisor below took {facts.stolen_share:.0%} of its CPU time"
    return PoolHost(
        kind=kind.name,
        host=host,
        cpus=facts.cpus,
        own_cpus=facts.own_cpus,
        memory_bytes=facts.memory_bytes,
        model=facts.model,
        qemu=facts.qemu,
        kvm=not facts.kvm,
        no_kvm=facts.kvm,
        waited_share=round(facts.waited_share, 4),
        stolen_share=None if facts.stolen_share is None else round(facts.stolen_share, 4),
        measures=not why,
        why=why,
    )


def table(hosts: list[PoolHost]) -> list[str]:
    """Format the rows as a table, with the reasons below it."""
    rows: list[tuple[str, ...]] = [
        ("kind", "host", "CPUs", "memory", "QEMU", "guests", "waited", "stolen", "measures")
    ]
    for one in hosts:
        stolen = "-" if one.stolen_share is None else f"{one.stolen_share:.1%}"
        looked = (
            str(one.cpus),
            f"{one.memory_bytes / (1 << 30):.1f} GiB",
            one.qemu or "none",
            "KVM" if one.kvm else "TCG",
            f"{one.waited_share:.1%}",
            stolen,
        )
        known = looked if one.cpus else ("-",) * len(looked)
        rows.append((one.kind or "any", one.host or "-", *known, "yes" if one.measures else "no"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for one in hosts:
        name = one.host or one.kind or "any"
        lines += [f"{name}: {one.why.rstrip('.')}."] if one.why else []
        lines += [f"{one.kind or 'any'}: down: {', '.join(one.down)}."] if one.down else []
        lines += [f"{name}: no KVM: {one.no_kvm.rstrip('.')}."] if one.no_kvm else []
    return lines
