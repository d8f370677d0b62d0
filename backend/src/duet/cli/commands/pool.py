# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb for pools of hosts: its options, its help, and nothing that takes time to import."""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.keys import keys_text
from duet.cli.results.pool import PoolResult

POOL_KEYS = keys_text(PoolResult)


def pool(
    action: Annotated[str, typer.Argument(help="doctor: look at a host of every kind.")] = "doctor",
    pool: Annotated[
        str, typer.Option("--pool", help="local, slurm or kubernetes; default: $DUET_POOL.")
    ] = "",
    json: Json = False,
) -> int:
    """Reserve a host of every kind and say what it has and whether it may measure.

    A probe there reports CPUs, memory, QEMU, whether a guest boots under KVM, and for how much of a
    second a busy program waited for a CPU. docs/CLUSTER.md names the settings.
    """
    from duet.cli.pool import pool as body

    return body(action, pool, json)
