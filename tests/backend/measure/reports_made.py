# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: reports made by hand, judged by the real comparison."""

from __future__ import annotations

from duet.base.errors import KernelError
from duet.measure.compare import compare_all
from duet.measure.model import (
    ArmFacts,
    Condition,
    PatchOrigin,
    Report,
    Series,
    SourceFacts,
    Table,
)

HOST = {
    "cpu": "Example\u00ae CPU 9000 @ 2.50GHz",
    "cpus": "2",
    "memory_mib": "7956",
    "os": "Debian GNU/Linux 12 (bookworm)",
    "kernel": "6.1.0-18-amd64",
    "qemu": "7.2.22",
    "accel": "tcg",
}
BOTH = (("both/0001-srcu-gp-state.patch", "ab" * 32), ("both/0010-shrinker.patch", "cd" * 32))
GCC = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0"
STRESS = (
    "stress-ng: info:  [113] stressor       bogo ops real time  usr time  sys time   bogo ops/s"
    "     bogo ops/s",
    "stress-ng: info:  [113] ramfs             12345     60.00      1.61     39.66      {}"
    "        4087.47",
)


def arm(name: str, role: str, *patches: tuple[str, str]) -> ArmFacts:
    return ArmFacts(
        *(name, name, role, "6.1.153", "e2cf6b73" * 3, "0a1b2c3d" * 8, patches, BOTH),
        compiler=GCC,
        tarball_sha256="78" * 32,
        settings="HZ=250, PREEMPT_NONE, NR_CPUS=64, no debug checks",
    )


def series(metric: str, arm: str, samples: list[float], **more: object) -> Series:
    reported: dict[str, object] = {
        "title": "umounts",
        "unit": "umounts/s",
        "better": "higher",
        "evidence": "measured",
    }
    return Series(metric=metric, arm=arm, samples=samples, **(reported | more))  # type: ignore[arg-type]


def judged(table: Table, report: Report) -> Table:
    table.comparisons = compare_all(table, tuple(a.name for a in report.arms))
    return table


def wall() -> Report:
    """Three arms on the wall clock: one slower, one not to be distinguished; and counted facts."""
    report = Report(
        lesson="02-grace-periods",
        title="Grace periods",
        question="Why did umount become four times slower \u2014 when a lock went away?",
        arms=(
            arm("rwsem", "before"),
            arm("srcu", "after", ("02-grace-periods/srcu.patch", "12" * 32)),
            arm("srcu-expedited", "alternative", ("02-grace-periods/srcu.patch", "34" * 32)),
        ),
        host=dict(HOST),
        command="./duet measure 02-grace-periods --arms rwsem,srcu,srcu-expedited "
        "--workload stress-ng --clock wall --set hogs=9 --set seconds=60 --repeats 5",
        at="2026-11-21T15:00:00+00:00",
        tasks="hogs",
        programs={"stress-ng": "0.15.06"},
        by="0.1.0, commit 0123456789ab",
    )
    table = Table(Condition("wall", None, "stress-ng", {"hogs": 9, "vcpus": 2, "seconds": 60}))
    rates = {
        "rwsem": [1290.5, 1301.25, 1284.0, 1312.75, 1295.5],
        "srcu": [281.5, 279.25, 284.0, 280.5, 290.25],
        "srcu-expedited": [1288.0, 1310.5, 1279.25, 1305.0, 1299.5],
    }
    calls = {"rwsem": [0.0], "srcu": [24690.0], "srcu-expedited": [24702.0]}
    for name, samples in rates.items():
        table.series.append(series("ops_per_s", name, samples))
        counted = {"title": "calls of synchronize_srcu", "unit": "calls", "better": "lower"}
        table.series.append(
            series("srcu_calls", name, calls[name], **counted, evidence="counted", extra=True)
        )
        table.lines[name] = [x.format(f"{s:8.2f}") for s in samples for x in STRESS]
    table.counted = {name: (120_000 + n, 0) for n, name in enumerate(rates)}
    report.tables = [judged(table, report)]
    return report


def count() -> Report:
    """Two arms swept on the count clock at two settings of ns per instruction."""
    report = Report(
        lesson="01-shrinker-bitmaps",
        title="Shrinker bitmaps",
        question="Why did drop_caches take seconds with 4,000 containers?",
        arms=(
            arm("before", "before", ("01-shrinker-bitmaps/before.patch", "56" * 32)),
            arm("after", "after"),
        ),
        host=dict(HOST),
        command="./duet measure 01-shrinker-bitmaps --clock count --sweep n=200,400,800",
        at="2026-11-21T15:00:00+00:00",
        sweep=("n", (200, 400, 800)),
    )
    times = {200: (12.1, 1.2), 400: (42.9, 1.3), 800: (166.9, 1.6)}
    for shift in (0, 3):
        for n, pair in times.items():
            table = Table(Condition("count", shift, "drop", {"n": n, "passes": 5}))
            for name, ms in zip(("before", "after"), pair, strict=True):
                table.series.append(
                    series(
                        "last_ms",
                        name,
                        [ms, ms],
                        title="the last drop_caches",
                        unit="ms",
                        better="lower",
                        evidence="counted",
                        perturbed=[ms * 1.001, ms * 0.998, ms * 1.004],
                    )
                )
                table.series.append(
                    series(
                        "info_bytes",
                        name,
                        [32.0],
                        title="sizeof struct shrinker_info",
                        unit="bytes",
                        better="neither",
                        evidence="static",
                    )
                )
            report.tables.append(judged(table, report))
    return report


def broken() -> Report:
    """Everything that can go wrong at once."""
    report = wall()
    report.partial = "interrupted after 7 of 20 runs"
    (table,) = report.tables
    one = table.of("ops_per_s", "srcu")
    assert one is not None
    one.samples, one.refused = [], "the workload printed no line with it"
    table.errors["srcu"] = KernelError(
        "The guest of srcu ran out of memory.", remedy="Give it more, or use a smaller n."
    )
    other = table.of("ops_per_s", "srcu-expedited")
    assert other is not None
    other.samples = other.samples[:3]
    table.refusals = [
        "the host was busy: in 3 runs a guest waited for a CPU, up to 31 % of its time"
    ]
    table.counted["srcu"] = (1000, 17)
    judged(table, report)
    return report


FIRST, SECOND = "c0ffee00" * 5, "facade11" * 5
"""Commits."""


def trial() -> Report:
    """Of `duet try`: a clean tree, a dirty one, and the first with a commit on it."""
    report = Report(
        lesson="90-linux-mine",
        title="linux-mine",
        question="What does mine do to sh -c 'read x; echo $x'?",
        arms=(
            ArmFacts(
                **{"name": "linux", "title": "linux", "role": "before", "kernel": "6.6.7"},
                **{"key": "e2cf6b73" * 3, "config_sha256": "0a1b2c3d" * 8, "base": "linux-4fe2aa"},
                **{"patches": (), "both": ()},
                source=SourceFacts("6.6.7", FIRST, "v6.6.7", "11" * 20),
            ),
            ArmFacts(
                **{"name": "mine", "title": "mine", "role": "after", "kernel": "6.6.7"},
                **{"key": "7b73e2cf" * 3, "config_sha256": "0a1b2c3d" * 8, "base": "linux-4fe2aa"},
                **{"patches": (("90-linux-mine/mine-0001-mine.patch", "12" * 32),), "both": ()},
                origins=(PatchOrigin("mine: v6.6.7-1-gfacade11facade-dirty"),),
                source=SourceFacts(
                    *("6.6.7", SECOND, "v6.6.7-1-gfacade11facade", "22" * 20, True, "56" * 32, 1)
                ),
            ),
            ArmFacts(
                **{"name": "third", "title": "third", "role": "alternative", "kernel": "6.6.7"},
                **{"key": "63a2e2cf" * 3, "config_sha256": "0a1b2c3d" * 8, "base": "linux-4fe2aa"},
                **{"patches": (("90-linux-mine/third-0001-pipe.patch", "34" * 32),), "both": ()},
                origins=(PatchOrigin("fs/pipe: wake every reader", "abcdef12" * 5),),
                source=SourceFacts("6.6.7", FIRST, "v6.6.7", "11" * 20),
            ),
        ),
        host=dict(HOST),
        command="./duet try --tree ../linux --tree '../mine (2)' third.patch --run "
        "'sh -c '\"'\"'read x; echo $x'\"'\"' </etc/passwd' --clock count",
        at="2026-11-21T15:00:00+00:00",
    )
    report.made_by = report.command
    table = Table(Condition("count", 0, "command", {"runs": 1}))
    more = {"title": "time of the command", "unit": "ms", "better": "lower", "evidence": "counted"}
    for name, ms in (("linux", 12.5), ("mine", 12.5), ("third", 14.0)):
        table.series.append(series("elapsed_ms", name, [ms, ms], **more))
    report.tables = [judged(table, report)]
    return report


REPORTS = {"wall": wall, "count": count, "broken": broken, "trial": trial}
