# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a pack: choose its measurements, write pack.json, and collect its files."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from duet.base.errors import DuetError, InputError
from duet.base.files import sha256_of
from duet.cli.arguments import read_request
from duet.cli.microscope.native import read_layouts
from duet.cli.output import note
from duet.guests import ensure_root
from duet.guests.qemu import qemu_version
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image, ready_arms
from duet.kernels.image import refuse_one
from duet.lenses.scope import native
from duet.lessons import load as roles
from duet.lessons.load import LessonFolder, load
from duet.measure import MeasurePlan
from duet.measure.curves import curve_plans
from duet.measure.elsewhere import PackedArm, PackedJob, PackedReplica, PackRecord, now
from duet.measure.plan import PERTURBED, all_steps, default_repeats, default_shifts, metrics_of
from duet.measure.provenance import arm_facts, our_version
from duet.measure.published import needed_cpus, plan_key, published_plans
from duet.measure.replica import replica_digest
from duet.plugins.pack.archive import write_archive
from duet.plugins.pack.contents import Draft
from duet.plugins.pack.results import PackResult
from duet.plugins.pack.unpack import RECORD, write_wrappers
from duet.runs.measure import read_statics
from duet.runs.sources import lesson_symbols

README: Final = """Kernel Duet: measurements of Linux kernels that differ by one patch.

    ./measure             run all measurements; the result is result.jsonl
    ./measure --time 8m   what fits into 8 minutes; run it again to continue
    ./measure --facts     say what this host has, and measure nothing
    ./measure --selftest  test guests on this host

It needs an x86-64 Linux and no rights: no installation, no network, no root. Send result.jsonl
back to where the pack was made:  ./duet measure --published --from result.jsonl
licenses/ names the licence and the source of everything in this folder.
"""
SCRIPT: Final = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd -P)
export PYTHONHOME="$here/python"
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" --argv0 "$here/libexec/python3" \\
	"$here/libexec/python3" -s -P "$here/"unpack.py "$here" "$@"
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Options that name one condition, as the user typed these options."""

    arms: str = ""
    workload: str = ""
    clock: str = ""
    settings: tuple[str, ...] = ()


def make_pack(names: Sequence[str], output: Path, condition: Asked) -> PackResult:
    """Write a pack of lessons, and return a summary of its contents.

    Args:
        condition: the condition to measure. An empty condition means the published figures.

    Raises:
        InputError: the output cannot be written, or a lesson has nothing to measure.
        InfraError: a kernel is not built, or a program is missing.
    """
    _check_output(output)
    kernels = KernelSettings.default()
    folders = [load(name) for name in dict.fromkeys(names)]
    left_out: list[str] = []
    jobs: list[PackedJob] = []
    replicas: dict[str, PackedReplica] = {}
    for folder in folders:
        if condition == Asked() and (replica := _replica(folder, left_out)):
            replicas[folder.slug] = replica
        if condition != Asked() or not (folder.lesson.published or folder.lesson.curves):
            jobs += _own_jobs(folder, condition, kernels, left_out)
        else:
            jobs += _lesson_jobs(folder, kernels, left_out)
    if not jobs and not replicas:
        raise InputError(
            f"nothing in {', '.join(names)} can be measured on another host.",
            remedy="Build the kernels with ./duet build, then pack again.",
        )
    with tempfile.TemporaryDirectory(dir=output.resolve().parent, prefix=".pack-") as scratch:
        draft = Draft(Path(scratch, "pack"))
        draft.folder.mkdir()
        record = asyncio.run(_fill(draft, folders, jobs, replicas, kernels))
        if output.suffix == ".tar":
            note("compressing")
            write_archive(draft.folder, output, draft.first_libraries())
            size = output.stat().st_size
        else:
            shutil.move(draft.folder, output)
            write_wrappers(output.resolve())
            size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    return PackResult(
        file=str(output),
        bytes=size,
        pack=record.digest(),
        jobs=len(jobs),
        runs=sum(len(all_steps(job.plan())) for job in jobs),
        replicas=sorted(replicas),
        kernels={
            f"{lesson} {name}": arm.bzimage_sha256
            for lesson, arms in record.arms.items()
            for name, arm in arms.items()
        },
        left_out=left_out,
    )


def _check_output(output: Path) -> None:
    if output.suffix not in ("", ".tar") or not output.resolve().parent.is_dir():
        raise InputError(
            f"--output needs a .tar file or a folder name, but got {output}.",
            remedy="Write for example --output kernel-duet-pack.tar.",
        )
    if output.suffix == "" and output.exists():
        raise InputError(f"{output} already exists.", remedy="Name a folder that does not exist.")


def _lesson_jobs(
    folder: LessonFolder, kernels: KernelSettings, left_out: list[str]
) -> list[PackedJob]:
    """Return the measurements for a lesson's figures and curves.

    Published figures come first. Each condition is measured once. A measurement whose kernels are
    not built is left out.
    """
    needed, found = needed_cpus(folder), []
    published = published_plans(folder, every=True)
    plans = dict(published)
    for point in curve_plans(folder):
        known = plans.setdefault(plan_key(point), point)
        metrics = (known.metrics or frozenset()) | (point.metrics or frozenset())
        plans[plan_key(point)] = replace(known, metrics=metrics)
    for key, plan in plans.items():
        if why := _why_not(plan, kernels):
            left_out.append(f"{folder.slug}, {plan.workload}: {why}")
            continue
        cpus = roles.cpus(plan.lesson, plan.params) if plan.clock == "wall" else 1
        found.append(
            _job(plan, published=key in published, needs_cpus=max(needed.get(key, 1), cpus))
        )
    return found


def _replica(folder: LessonFolder, left_out: list[str]) -> PackedReplica | None:
    """Return the native replica of a lesson; None if it has none or a kernel is not built."""
    if not (folder.folder / native.OPERATION).is_file():
        return None
    try:
        layouts = tuple(read_layouts(folder, native.read_operation(folder)))
    except DuetError as error:
        left_out.append(f"{folder.slug}, native replica: {error.sentence.rstrip('.')}")
        return None
    return PackedReplica(
        layouts=layouts,
        sha256=replica_digest(folder),
        compiler=native.provenance()["compiler"],
    )


def _own_jobs(
    folder: LessonFolder, asked: Asked, kernels: KernelSettings, left_out: list[str]
) -> list[PackedJob]:
    """Return the jobs of one condition, one job for each setting of the count clock."""
    spec = read_request(folder.slug, asked.arms, asked.workload, asked.clock, list(asked.settings))
    ready = ready_arms(folder, kernels)
    arms = tuple(arm for arm in spec.arms if ready[arm])
    left_out += [f"{folder.slug}, {arm}: not built" for arm in spec.arms if arm not in arms]
    if len(arms) < 2:
        return []
    plan = MeasurePlan(
        folder=folder,
        arms=arms,
        workload=spec.workload,
        clock=spec.clock,
        params=spec.params,
        repeats=default_repeats(spec.clock),
        perturbed=PERTURBED if spec.clock == "count" else 0,
    )
    every = {name for arm in arms for name in metrics_of(plan, arm)}
    watched = {name for arm in arms for name in metrics_of(plan, arm, ("microscope",))}
    left_out += [f"{folder.slug}: {name}, which the microscope counts" for name in sorted(watched)]
    plan = replace(plan, metrics=frozenset(every - watched))
    shifts = default_shifts(folder.lesson, spec.clock)
    return [_job(replace(plan, shifts=(shift,)), published=False, needs_cpus=1) for shift in shifts]


def _why_not(plan: MeasurePlan, kernels: KernelSettings) -> str:
    """Return why a plan cannot be packed, or "" if it can."""
    for arm in plan.arms:
        if metrics_of(plan, arm, ("microscope",)):
            return "the microscope needs the kernels' debug information"
        try:
            find_image(plan.folder, arm, kernels)
        except DuetError as error:
            return error.sentence.rstrip(".")
    return ""


def _job(plan: MeasurePlan, *, published: bool, needs_cpus: int) -> PackedJob:
    more = {"published": published, "needs_cpus": needs_cpus}
    return PackedJob.model_validate({**PackedJob.fields_of(plan), **more})


async def _fill(
    draft: Draft,
    folders: Sequence[LessonFolder],
    jobs: Sequence[PackedJob],
    replicas: Mapping[str, PackedReplica],
    kernels: KernelSettings,
) -> PackRecord:
    root = await ensure_root()
    arms: dict[str, dict[str, PackedArm]] = {}
    statics: dict[str, dict[str, dict[str, float]]] = {}
    for folder in folders:
        plans = [job.plan() for job in jobs if job.lesson == folder.slug]
        measured = {name for plan in plans for name in plan.arms}
        replica = replicas.get(folder.slug)
        copied = {layout.arm for layout in replica.layouts} if replica else set()
        names = [a.name for a in folder.lesson.arms if a.name in measured | copied]
        images = {name: find_image(folder, name, kernels) for name in names}
        refuse_one(images)
        arms[folder.slug] = {
            name: PackedArm(
                facts=arm_facts(folder, name, kernels), bzimage_sha256=sha256_of(image.bzimage)
            )
            for name, image in images.items()
        }
        statics[folder.slug] = _statics(plans, kernels)
        for name in measured:
            draft.add_kernel(images[name], lesson_symbols(folder, name, images[name]))
    draft.add_root(root)
    draft.add_programs()
    draft.add_python()
    draft.add_native()
    draft.add_libraries()
    draft.strip()
    draft.add_project(folders)
    for folder in folders:
        if folder.slug in replicas:
            draft.add_replica(folder)
    draft.add_licences()
    (draft.folder / "README").write_text(README)
    (draft.folder / "measure").write_text(SCRIPT)
    (draft.folder / "measure").chmod(0o755)
    record = PackRecord(
        by=our_version(),
        at=now(),
        jobs=tuple(jobs),
        arms=arms,
        statics=statics,
        replicas=dict(replicas),
        root_sha256=sha256_of(root.image),
        qemu=await qemu_version(),
        files=draft.digests(),
    )
    (draft.folder / RECORD).write_text(record.model_dump_json(indent=1))
    return record


def _statics(plans: Iterable[MeasurePlan], kernels: KernelSettings) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for plan in plans:
        for arm, values in read_statics(plan, kernels).items():
            for name, value in values.items():
                if not isinstance(value, DuetError):
                    found.setdefault(arm, {})[name] = value
    return found
