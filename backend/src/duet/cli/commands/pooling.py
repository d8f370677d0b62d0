# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of `duet measure` about pools."""

from __future__ import annotations

from typing import Annotated

import typer

PoolName = Annotated[
    str,
    typer.Option(
        "--pool",
        metavar="NAME",
        help="Measure on hosts of a pool: local, slurm or kubernetes (docs/CLUSTER.md). Each "
        "comparison (a value of the sweep, a --shift, a link) has one host for all its arms.",
    ),
]
AtOnce = Annotated[
    str,
    typer.Option(
        "--at-once",
        metavar="NUMBER",
        help="With --pool: comparisons at one time at most; default: as many as the pool gives.",
    ),
]
Wait = Annotated[
    str,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        help="With --pool: how long a full pool is waited for (3600); 0: now or not at all.",
    ),
]
LeaseTime = Annotated[
    str,
    typer.Option(
        "--lease",
        metavar="MINUTES",
        help="With --pool: how long one comparison may take; default: ten minutes, and two more "
        "for each run.",
    ),
]
CheckHosts = Annotated[
    bool,
    typer.Option(
        "--check-hosts",
        help="With --pool and --clock count: run each comparison on two hosts and compare every "
        "figure to the digit; exit code 0 if all are equal, else 3.",
    ),
]
