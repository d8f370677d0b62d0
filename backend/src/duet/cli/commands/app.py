# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs in the order of the help."""

from __future__ import annotations

import typer

from duet.cli.commands.backup import BACKUP_KEYS, backup, restore
from duet.cli.commands.benching import bench
from duet.cli.commands.bisecting import BISECT_KEYS, bisect
from duet.cli.commands.challenging import CHALLENGE_KEYS, challenge
from duet.cli.commands.checking import CHECK_KEYS, check
from duet.cli.commands.classes import CLASS_KEYS, class_
from duet.cli.commands.exporting import EXPORT_KEYS, export
from duet.cli.commands.host import (
    BUILD_KEYS,
    DOCTOR_KEYS,
    SELFTEST_KEYS,
    SERVE_KEYS,
    TOKEN_KEYS,
    build,
    doctor,
    host,
    selftest,
    serve,
    token,
)
from duet.cli.commands.labs import LAB_KEYS, lab
from duet.cli.commands.lenses import DRGN_KEYS, MICROSCOPE_KEYS, XRAY_KEYS, drgn, microscope, xray
from duet.cli.commands.lessons import LINT_KEYS, NEW_KEYS, VIEWS_KEYS, lint, new, views
from duet.cli.commands.lti import LTI_KEYS, lti
from duet.cli.commands.options import Verbs
from duet.cli.commands.planning import PLAN_KEYS, plan
from duet.cli.commands.pool import POOL_KEYS, pool
from duet.cli.commands.recordings import (
    COMPARE_KEYS,
    INSPECT_KEYS,
    RECORD_ALL_KEYS,
    REPLAY_KEYS,
    REPRODUCE_KEYS,
    RUNS_KEYS,
    compare,
    inspect,
    record_all,
    replay,
    reproduce,
    runs,
)
from duet.cli.commands.runs import MEASURE_KEYS, RECORD_KEYS, RUN_KEYS, measure, record, run
from duet.cli.commands.trying import TRY_KEYS, try_

app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Kernel Duet: two kernels, one workload, one screen.",
    epilog="Exit codes: 0 done, 1 unexpected, 2 input, 3 host, 4 guest kernel, 130 interrupted. "
    'With --json an error is {"error": {"code", "sentence", "remedy", "detail"}} on stdout.',
)

for verb, keys in (
    (doctor, DOCTOR_KEYS),
    (selftest, SELFTEST_KEYS),
    (build, BUILD_KEYS),
    (serve, SERVE_KEYS),
    (token, TOKEN_KEYS),
    (lab, LAB_KEYS),
    (class_, CLASS_KEYS),
    (lti, LTI_KEYS),
    (pool, POOL_KEYS),
    (plan, PLAN_KEYS),
    (backup, BACKUP_KEYS),
    (restore, BACKUP_KEYS),
    (run, RUN_KEYS),
    (measure, MEASURE_KEYS),
    (record, RECORD_KEYS),
    (try_, TRY_KEYS),
    (bisect, BISECT_KEYS),
    (check, CHECK_KEYS),
    (challenge, CHALLENGE_KEYS),
    (record_all, RECORD_ALL_KEYS),
    (runs, RUNS_KEYS),
    (inspect, INSPECT_KEYS),
    (replay, REPLAY_KEYS),
    (microscope, MICROSCOPE_KEYS),
    (export, EXPORT_KEYS),
    (compare, COMPARE_KEYS),
    (reproduce, REPRODUCE_KEYS),
    (xray, XRAY_KEYS),
    (drgn, DRGN_KEYS),
    (new, NEW_KEYS),
    (lint, LINT_KEYS),
    (views, VIEWS_KEYS),
):
    app.command(verb.__name__.strip("_").replace("_", "-"), epilog=keys)(verb)
app.command("host")(host)
app.add_typer(bench, name="bench")
