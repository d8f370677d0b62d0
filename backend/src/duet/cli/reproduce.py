# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet reproduce`: the same arms run again; what differs first, then whether claims hold.

Patches in a recording are never built: a kernel's makefiles run on this host, and a recording may
come from anywhere. The arms of this checkout run, and where they differ, that is said first.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import asdict
from pathlib import Path

from pydantic import JsonValue

from duet.base.errors import InputError
from duet.bundle import Bundle, open_bundle
from duet.bundle.decoding import Difference, differences
from duet.cli.build import build_missing
from duet.cli.output import emit, note
from duet.cli.record import record_run
from duet.cli.reproduce_claims import Checked, check_claims
from duet.cli.request import Request
from duet.cli.results.recordings import ReproduceResult
from duet.guests import Clock
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_specs
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import workload_of
from duet.measure.model import SAME
from duet.runs.compare import figure_rows, figures_of


def reproduce(file: Path, out: Path | None, claims: bool, as_json: bool) -> int:
    """See `duet reproduce --help`."""
    if out is not None and out.exists():
        raise InputError(f"{out} is there already.", remedy="Name another file with --out.")
    bundle = open_bundle(file)
    folder = lessons.load(bundle.manifest.lesson)
    request = request_of(folder, bundle)
    kernels = KernelSettings.default()
    specs = arm_specs(folder)
    build_missing([specs[arm] for arm in request.arms], kernels)
    again = _again(bundle, request, kernels, out)
    found = differences(bundle.manifest, again.manifest)
    for difference in found:
        note(f"differs: {difference}")
    rows = figure_rows(figures_of(folder, bundle), figures_of(folder, again))
    checked = check_claims(request, bundle.manifest.shift, kernels) if claims else []
    holds = all(claim.holds for claim in checked) if checked else None
    verdict = verdict_of(checked, claims, found)
    if as_json:
        emit(
            ReproduceResult(
                file=str(file),
                lesson=bundle.manifest.lesson,
                clock=bundle.manifest.clock,
                recorded_at=bundle.manifest.created,
                differences=[asdict(difference) for difference in found],
                figures=rows,
                claims=[claim.tree() for claim in checked],
                holds=holds,
                verdict=verdict,
                recording=None if out is None else str(out),
            )
        )
    else:
        print("\n".join([*difference_lines(found), "", *figure_lines(bundle, rows), ""]))
        print("\n".join([*(str(claim) for claim in checked), verdict]))
    return 1 if holds is False else 0


def request_of(folder: LessonFolder, bundle: Bundle) -> Request:
    """What was recorded, as it can be run here. Knobs that the lesson no longer has are left out.

    Raises:
        InputError: an arm, a workload or a clock is not the lesson's, or a knob is out of range.
    """
    manifest = bundle.manifest
    arms = tuple(folder.arm(entry.name).name for entry in manifest.arms)
    workload_of(folder.lesson, manifest.workload)
    params = folder.check_recorded_params(manifest.params, manifest.clock)
    return Request(folder, arms, manifest.workload, Clock(manifest.clock), params)


def _again(bundle: Bundle, request: Request, kernels: KernelSettings, out: Path | None) -> Bundle:
    """Record the same once more."""
    manifest = bundle.manifest
    with tempfile.TemporaryDirectory(prefix="duet-reproduce-") as scratch:
        path = out or Path(scratch) / "again.duet"
        run = record_run(
            request, path, manifest.window_ms, kernels, seed=manifest.seed, shift=manifest.shift
        )
        asyncio.run(run)
        return open_bundle(path)


def difference_lines(found: list[Difference]) -> list[str]:
    """What is not the same, before any number."""
    if not found:
        return ["Kernels, config, patches, host and programs are those of the recording."]
    places = dict.fromkeys(difference.of for difference in found)
    lines = [f"What differs from the recording ({', '.join(places)}):"]
    for one in found:
        whose = f" of {one.arm}" if one.arm else ""
        lines.append(f"  {one.of}: {one.what}{whose}: {one.recorded}, now {one.now}")
    return lines


def figure_lines(bundle: Bundle, rows: list[dict[str, JsonValue]]) -> list[str]:
    """The table, and what it is worth."""
    if bundle.manifest.clock == "count":
        near = [row for row in rows if _near(row)]
        worth = (
            f"{len(near)} of {len(rows)} figures are within {SAME:.0%} of the recorded ones "
            "(traced runs on the count clock repeat nearly)."
        )
    else:
        worth = "Traced runs on the wall clock are for looking; they prove nothing either way."
    return [*figure_table(rows, ("recorded", "now")), worth]


def figure_table(rows: list[dict[str, JsonValue]], heads: tuple[str, str]) -> list[str]:
    """Figures of two sides, and the change from one to the other."""
    cells = [("arm", "figure", *heads, "change")]
    for row in rows:
        ratio = row["ratio"]
        change = f"{100 * (ratio - 1):+.1f} %" if isinstance(ratio, float) else ""
        values = (_number(row["recorded"]), _number(row["now"]), change)
        cells.append((str(row["arm"]), str(row["figure"]), *values))
    widths = [max(len(row[at]) for row in cells) for at in range(5)]
    return [
        "  ".join([a.ljust(widths[0]), b.ljust(widths[1]),
                   *(c.rjust(w) for c, w in zip(rest, widths[2:], strict=True))]).rstrip()
        for a, b, *rest in cells
    ]  # fmt: skip


def _near(row: dict[str, JsonValue]) -> bool:
    ratio = row["ratio"]
    return isinstance(ratio, float) and abs(ratio - 1) <= SAME


def _number(value: JsonValue) -> str:
    if isinstance(value, int | float):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return "-"


def verdict_of(checked: list[Checked], asked: bool, found: list[Difference]) -> str:
    """One sentence."""
    if not asked:
        return "Claims were not measured (--no-claims)."
    if not checked:
        return "No claim of the lesson is about these arms, this workload and this clock."
    same = not [d for d in found if d.of in ("kernel", "config", "patches")]
    kernels = "the same kernels" if same else "kernels that are not those of the recording"
    broken = [claim for claim in checked if not claim.holds]
    if not broken:
        return f"All {len(checked)} claims still hold, on {kernels}."
    return f"{len(broken)} of {len(checked)} claims do not hold here, on {kernels}."
