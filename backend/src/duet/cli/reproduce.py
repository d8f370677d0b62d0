# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet reproduce`: runs the same arms again, says what differs, and checks the claims.

Patches in a recording are never built, because makefiles run on this host and a recording may come
from anywhere. Instead, this checkout's arms run. `duet reproduce` first prints how these arms
differ from the recorded arms.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import File, Json, find_recording
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from pydantic import JsonValue

    from duet.bundle import Bundle
    from duet.bundle.decoding import Difference
    from duet.kernels import KernelSettings
    from duet.lessons.load import LessonFolder
    from duet.lessons.schema import Claim
    from duet.measure import MeasurePlan, Table
    from duet.session import RunSpec


FIGURE_SHAPE = "[{arm, figure, recorded, now, ratio}]"


DIFFERENCE_SHAPE = (
    "[{of (run, kernel, config, patches, build, host, programs), what, arm, recorded, now}]"
)


@dataclass(frozen=True, slots=True)
class ReproduceResult:
    file: str
    lesson: str
    clock: str
    recorded_at: str
    differences: Sequence[Mapping[str, object]] = key(shape=DIFFERENCE_SHAPE)
    figures: Sequence[Mapping[str, object]] = key("of traced runs", FIGURE_SHAPE)
    claims: Sequence[Mapping[str, object]] = key(
        "of untraced runs", "[{claim, source, own_knobs, holds, because}]"
    )
    holds: bool | None = key("null when no claim is about the recording")
    verdict: str = key()
    recording: str | None = key()


KEYS = keys_text(ReproduceResult, "Exit code 1 when a claim does not hold.")


def reproduce(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the new recording to this file.")
    ] = None,
    no_claims: Annotated[
        bool, typer.Option("--no-claims", help="Only run the arms again; measure no claims.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Run a recording's arms again and check the lesson's claims. First, print what differs."""
    from duet.bundle import open_bundle
    from duet.bundle.decoding import differences
    from duet.cli.building import build_missing
    from duet.kernels import KernelSettings
    from duet.kernels.arms import arm_specs
    from duet.lessons import load as lessons
    from duet.runs.compare import figure_rows, figures_of

    path = find_recording(file)
    claims = not no_claims
    if out is not None and out.exists():
        raise InputError(f"{out} already exists.", remedy="Choose another file with --out.")
    bundle = open_bundle(path)
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
                file=str(path),
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


# Find the lesson's claims that fit the recording, and measure them again without tracing.


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The result of measuring one claim.

    Args:
        trouble: why the claim does not hold; None if it holds.
        own_knobs: whether the claim's own knobs were used instead of the recording's knobs.
    """

    claim: Claim
    trouble: str | None
    own_knobs: bool

    @property
    def holds(self) -> bool:
        return self.trouble is None

    def tree(self) -> dict[str, object]:
        """Return the documented keys and their values."""
        from duet.measure.claims import claim_text

        return {
            "claim": claim_text(self.claim),
            "source": self.claim.source,
            "own_knobs": self.own_knobs,
            "holds": self.holds,
            "because": self.trouble,
        }

    def __str__(self) -> str:
        from duet.measure.claims import claim_text

        where = " (with its own knobs)" if self.own_knobs else ""
        if self.trouble is None:
            return f"holds: {claim_text(self.claim)}{where}"
        return f"does not hold: {claim_text(self.claim)}{where}: {self.trouble}"


def claims_about(spec: RunSpec, shift: int) -> tuple[list[Claim], bool]:
    """Find the claims about these arms, this workload and this clock.

    Returns:
        The claims, and whether to measure each with the knobs of the claim. If some claims have
        exactly the recording's knobs, the result is these claims, and False. Otherwise, the result
        is the claims that contradict no knob of the recording, and True. If every claim contradicts
        a knob, the result is all claims, and True.
    """
    lesson = spec.folder.lesson
    first = next(iter(lesson.workloads))
    near = [
        claim
        for claim in lesson.claims
        if {claim.arm, claim.to or claim.arm} <= set(spec.arms)
        and claim.clock == spec.clock
        and claim.shift == shift
        and (claim.workload or first) == spec.workload
    ]
    if exact := [claim for claim in near if _knobs(spec, claim) == _knobs(spec)]:
        return exact, False
    agreeing = [
        claim
        for claim in near
        if all(spec.params.get(name) == value for name, value in claim.params.items())
    ]
    return agreeing or near, bool(near)


def _knobs(spec: RunSpec, claim: Claim | None = None) -> dict[str, int]:
    """Return all knobs except the run's duration, which claims leave open."""
    from duet.lessons.load import knob

    params = spec.params
    if claim is not None:
        params = spec.folder.check_params(claim.params, spec.clock)
    duration = knob(spec.folder.lesson, "duration")
    return {name: value for name, value in params.items() if name != duration}


def check_claims(spec: RunSpec, shift: int, kernels: KernelSettings) -> list[CheckedClaim]:
    """Measure the claims that fit the recording.

    Raises:
        DuetError: nothing could be measured.
    """
    from duet.measure.claims import broken

    claims, own_knobs = claims_about(spec, shift)
    plans = {id(claim): _plan(spec, claim, own_knobs) for claim in claims}
    tables: dict[str, Table] = {}
    checked: list[CheckedClaim] = []
    for claim in claims:
        key = _key(plans[id(claim)])
        if key not in tables:
            same = [plan for plan in plans.values() if _key(plan) == key]
            tables[key] = asyncio.run(_measure(_merged(spec, same), kernels))
        table = tables[key]
        errors = [table.errors[a] for a in (claim.arm, claim.to) if a in table.errors]
        trouble = errors[0].sentence if errors else broken(claim, table)
        checked.append(CheckedClaim(claim, trouble, own_knobs))
    return checked


def _plan(spec: RunSpec, claim: Claim, own_knobs: bool) -> MeasurePlan:
    from duet.measure.claims import plan_of_claim
    from duet.measure.plan import default_repeats

    plan = plan_of_claim(spec.folder, claim, default_repeats(spec.clock))
    return plan if own_knobs else replace(plan, params=spec.params)


def _key(plan: MeasurePlan) -> str:
    return repr((plan.workload, plan.clock, plan.shifts, sorted(plan.params.items())))


def _merged(spec: RunSpec, plans: list[MeasurePlan]) -> MeasurePlan:
    """Merge the plans of claims under the same condition, so that the claims share runs.

    Arms keep the recording's order.
    """
    wanted = {arm for plan in plans for arm in plan.arms}
    return replace(
        plans[0],
        arms=tuple(arm for arm in spec.arms if arm in wanted),
        metrics=frozenset().union(*(plan.metrics or () for plan in plans)),
    )


async def _measure(plan: MeasurePlan, kernels: KernelSettings) -> Table:
    from duet.cli.measuring import ProgressBar
    from duet.runs.measure import prepare_measurement

    with ProgressBar() as tell:
        measuring = await prepare_measurement(plan, kernels, "", progress=tell)
        return (await measuring.run()).tables[0]


def request_of(folder: LessonFolder, bundle: Bundle) -> RunSpec:
    """Return a recording's run, without knobs that the lesson no longer has.

    Raises:
        InputError: the lesson lacks an arm, the workload or the clock, or a knob is out of range.
    """
    from duet.lessons.plan import workload_of
    from duet.session import RunSpec

    manifest = bundle.manifest
    arms = tuple(folder.arm(entry.name).name for entry in manifest.arms)
    workload_of(folder.lesson, manifest.workload)
    params = folder.check_recorded_params(manifest.params, manifest.clock)
    return RunSpec(folder, arms, manifest.workload, params, manifest.clock)


def _again(bundle: Bundle, spec: RunSpec, kernels: KernelSettings, out: Path | None) -> Bundle:
    from duet.bundle import open_bundle
    from duet.cli.recording import record_run

    manifest = bundle.manifest
    with tempfile.TemporaryDirectory(prefix="duet-reproduce-") as scratch:
        path = out or Path(scratch) / "again.duet"
        run = record_run(
            spec, path, manifest.window_ms, kernels, seed=manifest.seed, shift=manifest.shift
        )
        asyncio.run(run)
        return open_bundle(path)


def difference_lines(found: list[Difference]) -> list[str]:
    """Say what differs from the recording."""
    if not found:
        return ["Kernels, config, patches, host and programs equal those of the recording."]
    places = dict.fromkeys(difference.of for difference in found)
    lines = [f"What differs from the recording ({', '.join(places)}):"]
    for one in found:
        whose = f" of {one.arm}" if one.arm else ""
        lines.append(f"  {one.of}: {one.what}{whose}: {one.recorded}, now {one.now}")
    return lines


def figure_lines(bundle: Bundle, rows: list[dict[str, JsonValue]]) -> list[str]:
    """Format the table of figures, and say what it proves."""
    from duet.measure.model import SAME

    if bundle.manifest.clock == "count":
        near = [row for row in rows if _near(row)]
        worth = (
            f"{len(near)} of {len(rows)} figures are within {SAME:.0%} of the recorded ones "
            "(traced runs on the count clock nearly repeat)."
        )
    else:
        worth = "Traced runs on the wall clock prove nothing: tracing and the host change them."
    return [*figure_table(rows, ("recorded", "now")), worth]


def figure_table(rows: list[dict[str, JsonValue]], heads: tuple[str, str]) -> list[str]:
    """Format a table with both recordings' figures, and the change from the first to the second."""
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
    from duet.measure.model import SAME

    ratio = row["ratio"]
    return isinstance(ratio, float) and abs(ratio - 1) <= SAME


def _number(value: JsonValue) -> str:
    if isinstance(value, int | float):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return "-"


def verdict_of(checked: list[CheckedClaim], wanted: bool, found: list[Difference]) -> str:
    if not wanted:
        return "Claims were not measured (--no-claims)."
    if not checked:
        return "No claim of the lesson is about these arms, this workload and this clock."
    same = not [d for d in found if d.of in ("kernel", "config", "patches")]
    kernels = "the same kernels" if same else "other kernels than the recording's"
    broken = [claim for claim in checked if not claim.holds]
    if not broken:
        return f"All {len(checked)} claims still hold, on {kernels}."
    return f"{len(broken)} of {len(checked)} claims do not hold here, on {kernels}."
