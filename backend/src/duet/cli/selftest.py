# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet selftest`: tests on real guests what Kernel Duet needs from a host.

The project has no host with KVM, so users of such hosts run the selftest once. Reports about
measurements on that host then mention the result (duet.measure.provenance).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InfraError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, MaybeLesson
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.kernels import KernelSettings
    from duet.lessons.load import LessonFolder
    from duet.runs.selftest import Selftest


@dataclass(frozen=True, slots=True)
class SelftestStep:
    """One test."""

    name: str
    ok: bool = key("bool")
    found: str = key()
    seconds: float = key()
    remedy: str = key()


@dataclass(frozen=True, slots=True)
class SelftestResult:
    ok: bool = key("bool")
    accel: str = key("kvm, or auto: the host's choice")
    qemu: str = key()
    lesson: str = key()
    host: Mapping[str, str] = key(shape="{name: text}")
    steps: Sequence[SelftestStep] = key()
    file: str = key("where --kvm stored the result")


KEYS = keys_text(SelftestResult)


def selftest(
    lesson: MaybeLesson = None,
    kvm: Annotated[bool, typer.Option("--kvm", help="Require KVM, and store the result.")] = False,
    as_json: Json = False,
) -> int:
    """Test guests on this host: vCPUs, clock, x-ray, measurement.

    LESSON must have built kernels; the default is the first lesson with two built kernels. With
    --kvm the result is stored, and reports about measurements on this host mention the result.
    """
    from duet.cli.arguments import environment_variable, read_request
    from duet.cli.kvm import kvm_works
    from duet.guests import Accel
    from duet.kernels import KernelSettings
    from duet.measure.provenance import host_fingerprint, remember
    from duet.runs.selftest import Selftest, shortest_run
    from duet.runs.sources import kernel_sources

    if kvm:
        works, why = kvm_works()
        if not works:
            raise InfraError(
                f"guests cannot be tested under KVM here: {why.rstrip('.')}.",
                remedy="Use a host with KVM. ./duet doctor says what is missing here.",
            )
    settings = KernelSettings.default()
    spec = shortest_run(read_request(lesson or _ready_lesson(), "", "", "wall", []))
    spec = replace(spec, arms=tuple(built_arms(spec.folder, settings)[:2]))
    sources_of = partial(kernel_sources, spec.folder, settings=settings)
    test = Selftest(spec, sources_of, Accel.KVM if kvm else None, xray=True)
    with environment_variable("DUET_ACCEL", "kvm" if kvm else None):
        steps = asyncio.run(_run(test))
    result = SelftestResult(
        ok=all(step.ok for step in steps),
        accel=str(Accel.KVM if kvm else "auto"),
        qemu=test.qemu,
        lesson=spec.folder.slug,
        host=host_fingerprint(),
        steps=steps,
        file="",
    )
    if kvm:
        result = replace(result, file=str(remember(asdict(result))))
    if as_json:
        emit(result)
    else:
        for step in steps:
            print(f"{'ok    ' if step.ok else 'FAILED'}  {step.name:12} {step.found}")
    return 0 if result.ok else 1


async def _run(test: Selftest) -> list[SelftestStep]:
    return [SelftestStep(**asdict(result)) async for result in test.results(note)]


def _ready_lesson() -> str:
    from duet.kernels import KernelSettings
    from duet.lessons import load as lessons

    settings = KernelSettings.default()
    for slug in lessons.slugs():
        if len(built_arms(lessons.load(slug), settings)) > 1:
            return slug
    raise InfraError("no lesson has two built kernels.", remedy="Run ./duet build.")


def built_arms(folder: LessonFolder, settings: KernelSettings) -> list[str]:
    """Return a lesson's arms whose kernels are built."""
    from duet.kernels.arms import ready_arms

    return [arm for arm, ready in ready_arms(folder, settings).items() if ready]
