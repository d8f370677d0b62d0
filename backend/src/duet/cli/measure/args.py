# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the options of `duet measure`. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.cli.arguments import read_request, shares_thread, untraced, with_vcpus
from duet.cli.output import parse_settings, split_names
from duet.kernels.links import MAX_LAYOUTS, MIN_LAYOUTS
from duet.lessons.load import LessonFolder, knob, slugs
from duet.measure import MeasurePlan
from duet.measure.plan import MAX_REPEATS, PERTURBED, default_repeats, default_shifts, knobs

MAX_SHIFT = 10
MAX_VALUES = 64


@dataclass(frozen=True, slots=True)
class MeasureArgs:
    """The options as typed."""

    lesson: str
    arms: str = ""
    workload: str = ""
    clock: str = ""
    settings: tuple[str, ...] = ()
    sweep: str | None = None
    repeats: str | None = None
    shift: str = ""
    layouts: str | None = None


def read_plan(given: MeasureArgs) -> MeasurePlan:
    """Check the options and build the plan.

    Raises:
        InputError: an option is unknown, impossible or out of range.
    """
    if not given.lesson:
        raise InputError(
            "a measurement needs a lesson.",
            remedy=f"Choose from: {', '.join(slugs())}; or use --published for all.",
        )
    spec = read_request(given.lesson, given.arms, given.workload, given.clock, list(given.settings))
    if len(spec.arms) < 2:
        raise InputError(
            f"a comparison needs two arms, but got only '{spec.arms[0]}'.",
            remedy=f"Choose from: {', '.join(a.name for a in spec.folder.lesson.arms)}.",
        )
    count = spec.clock == "count"
    sweep = read_sweep(given.sweep, spec.folder, spec.params, spec.clock)
    if sweep and sweep[0] in parse_settings(list(given.settings)):
        raise InputError(
            f"'{sweep[0]}' is both set and swept.",
            remedy=f"Leave out --set {sweep[0]}=..., or --sweep.",
        )
    params, metrics = spec.params, None
    if count:
        params = with_vcpus(spec.folder, params, parse_settings(list(given.settings)))
        if shares_thread(spec.folder, params, sweep):
            metrics = untraced(spec.folder, spec.workload)
    return MeasurePlan(
        folder=spec.folder,
        arms=spec.arms,
        workload=spec.workload,
        clock=spec.clock,
        params=params,
        repeats=read_repeats(given.repeats, spec.clock),
        shifts=read_shifts(given.shift, spec.clock)
        or default_shifts(spec.folder.lesson, spec.clock),
        sweep=sweep,
        perturbed=PERTURBED if count else 0,
        metrics=metrics,
        layouts=read_layouts(given.layouts),
    )


def read_layouts(text: str | None) -> int:
    """Return how many times to link each arm, or 0 if the text is empty or "1".

    Raises:
        InputError: the text is not a whole number, or the number is too large, or too small for
            a spread.
    """
    number = int(text) if text is not None and re.fullmatch(r"\d{1,9}", text.strip()) else 0
    if text is None or number == 1:
        return 0
    if not MIN_LAYOUTS <= number <= MAX_LAYOUTS:
        raise InputError(
            f"--layouts needs {MIN_LAYOUTS} to {MAX_LAYOUTS} links of each arm, "
            f"but got {text or 'nothing':.20}.",
            remedy="Leave --layouts out, or write 1, to use only the default link.",
        )
    return number


def read_repeats(text: str | None, clock: Clock) -> int:
    """Return the number of runs per arm. The default is as many as a verdict needs.

    Raises:
        InputError: the text is not a whole number, or it is out of range.
    """
    usual = default_repeats(clock)
    if text is None:
        return usual
    number = int(text) if re.fullmatch(r"[+-]?\d{1,9}", text.strip()) else 0
    if not 1 <= number <= MAX_REPEATS:
        raise InputError(
            f"--repeats needs 1 to {MAX_REPEATS} runs per arm, but got {text or 'nothing':.20}.",
            remedy=f"Leave --repeats out for {usual}.",
        )
    return number


def read_shifts(text: str, clock: Clock) -> tuple[int, ...]:
    """Parse a text such as `0,3` as (0, 3), and an empty text as ().

    Raises:
        InputError: an item is not a number from 0 to MAX_SHIFT, an item is a duplicate, or the
            clock is not the count clock.
    """
    if not text:
        return ()
    if clock == "wall":
        raise InputError(
            "--shift sets the nanoseconds per instruction of the count clock, "
            "but this is the wall clock.",
            remedy="Add --clock count, or leave --shift out.",
        )
    values = _numbers(text, "--shift", "--shift 0,3")
    if any(not 0 <= v <= MAX_SHIFT for v in values):
        raise InputError(
            f"--shift needs numbers from 0 to {MAX_SHIFT}, but got '{text:.40}'.",
            remedy="Shift 0 is 1 ns per instruction, shift 3 is 8 ns.",
        )
    return values


def read_sweep(
    text: str | None, folder: LessonFolder, params: dict[str, int], clock: Clock
) -> tuple[str, tuple[int, ...]] | None:
    """Parse a text such as `NAME=1,3,9` as ("NAME", (1, 3, 9)), and an empty text as None.

    Raises:
        InputError: there is no such knob, no value was given, a value is a duplicate, or a value is
            out of the knob's range.
    """
    if text is None:
        return None
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not name or not equals or not split_names(rest):
        raise InputError(
            f"--sweep needs NAME=VALUE,VALUE, but got '{text:.60}'.",
            remedy="Write for example --sweep hogs=1,3,9.",
        )
    values = _numbers(rest, f"--sweep {name}", f"--sweep {name}=1,3,9")
    if len(values) > MAX_VALUES:
        raise InputError(
            f"--sweep allows at most {MAX_VALUES} values, but got {len(values)}.",
            remedy="Give fewer values.",
        )
    for value in values:
        checked = folder.check_params({**params, name: value}, clock)
        if checked[name] != value and name != knob(folder.lesson, "cpus"):
            raise InputError(
                f"'{name}' cannot be swept on the {clock} clock, because it is always "
                f"{checked[name]}.",
                remedy="Sweep another knob, or use the other clock.",
            )
    return name, values


def _numbers(text: str, option: str, example: str) -> tuple[int, ...]:
    try:
        values = tuple(int(part) for part in split_names(text))
    except ValueError:
        values = ()
    if not values:
        raise InputError(
            f"{option} needs whole numbers separated by commas, but got '{text:.60}'.",
            remedy=f"Write for example {example}.",
        )
    if len(set(values)) != len(values):
        raise InputError(
            f"{option} has a duplicate value: '{text:.60}'.", remedy="Give each value once."
        )
    return values


def command_of(plan: MeasurePlan) -> str:
    """Return the command line that repeats a measurement, with every default written out."""
    words = ["./duet", "measure", plan.folder.slug, "--arms", ",".join(plan.arms)]
    words += ["--workload", plan.workload, "--clock", plan.clock]
    for name, value in knobs(plan).items():
        words += ["--set", f"{name}={value}"]
    if plan.sweep:
        words += ["--sweep", f"{plan.sweep[0]}={','.join(map(str, plan.sweep[1]))}"]
    words += ["--repeats", str(plan.repeats)]
    if plan.clock == "count":
        words += ["--shift", ",".join(map(str, plan.shifts))]
    if plan.layouts:
        words += ["--layouts", str(plan.layouts)]
    return shlex.join(words)
