# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge whether a change to an arm meets a lesson's challenge.

`groups` plans the measurements, and `barriers_gone` counts removed barriers. `judge` decides from
the tables and from a debug kernel's console, and `text` formats the result.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Literal

from duet.base.errors import InputError, KernelError
from duet.kernels.recipe import patch_diff
from duet.lessons.load import LessonFolder
from duet.lessons.own import own_name, with_own
from duet.lessons.schema import Challenge, Claim, Goal, Lesson
from duet.lessons.schema.challenges import Barrier, Litmus, Read, Statement, Write
from duet.measure.claims import broken, figure, plan_of_claim, wanted
from duet.measure.model import Table
from duet.measure.plan import MeasurePlan
from duet.trials.check.console import Verdict

# Plan the measurements for a challenge's goals and rules, with as few guests as possible. Pure.


@dataclass(frozen=True, slots=True)
class Group:
    """One measurement, and the claims that can be decided from its table."""

    plan: MeasurePlan
    claims: tuple[Claim, ...]


def limits(challenge: Challenge) -> Iterator[tuple[str, Goal]]:
    """Yield ('goal', goal) for each goal of a challenge, then ('rule', rule) for each rule."""
    yield from (("goal", one) for one in challenge.goals)
    yield from (("rule", one) for one in challenge.rules)


def groups(folder: LessonFolder, claims: Sequence[Claim]) -> list[Group]:
    """Return the measurements that decide the claims, one measurement for each condition.

    Raises:
        InputError: the lesson does not have one of the knobs, or a value is out of range.
    """
    found: dict[object, Group] = {}
    for claim in claims:
        plan = plan_of_claim(folder, claim)
        key = (plan.workload, plan.clock, plan.shifts, tuple(sorted(plan.params.items())))
        group = found.get(key)
        if group is None:
            found[key] = Group(plan, (claim,))
            continue
        arms = dict.fromkeys((*group.plan.arms, *plan.arms))
        metrics = (group.plan.metrics or frozenset()) | (plan.metrics or frozenset())
        plan = replace(group.plan, arms=tuple(arms), metrics=metrics)
        found[key] = Group(plan, (*group.claims, claim))
    return list(found.values())


def tables_of(measured: Mapping[int, Table], found: Sequence[Group]) -> dict[str, Table]:
    """Return claim text -> the table that decides the claim, for all measured groups.

    Args:
        measured: group index -> the group's table.
    """
    return {
        claim.model_dump_json(): table
        for index, table in measured.items()
        for claim in found[index].claims
    }


# Memory barriers that a change removes. Pure.
#
# Guests run on x86, which reorders only a store with a later load. A barrier next to an atomic
# operation generates no instruction on x86. Without this barrier, the kernel behaves the same, so
# no run can show that the barrier is missing (Documentation/memory-barriers.txt, "CPU MEMORY
# BARRIERS").

BARRIER = re.compile(
    r"\b((?:smp_|dma_|virt_)?(?:mb|rmb|wmb)|smp_mb__\w+|smp_store_mb|smp_store_release"
    r"|smp_load_acquire|rcu_assign_pointer|clear_bit_unlock|test_and_set_bit_lock)\s*\("
)
COMMENT = re.compile(r"/\*.*?\*/|//.*|^\s*\*.*|/\*.*")


def barriers_gone(diff: str) -> tuple[str, ...]:
    """Return the names of removed barriers, or () if the diff removes no more than it adds.

    Args:
        diff: a unified diff. Barriers in comments do not count.
    """
    balance: Counter[str] = Counter()
    for line in diff.splitlines():
        if line[:1] not in ("+", "-") or line.startswith(("+++ ", "--- ")):
            continue
        for name in BARRIER.findall(COMMENT.sub("", line[1:])):
            balance[name] += 1 if line[0] == "-" else -1
    if balance.total() <= 0:
        return ()
    return tuple(f"{name}()" for name, fewer in balance.items() if fewer > 0)


# Add an arm to a lesson. The new arm has the caller's patch on top of an existing arm's patches.
#
# A visitor's change is built in a sandbox (duet.kernels). A patch given in a terminal is built like
# any arm's patch.


def with_patch(folder: LessonFolder, arm: str, patch: Path) -> tuple[LessonFolder, str, str]:
    """Return (the lesson with the new arm, the arm's name, the diff).

    Args:
        patch: output of `git diff`, which may be part of a mail.

    Raises:
        InputError: there is no such arm, or the file has no diff.
    """
    try:
        diff = patch_diff(patch.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"wanted a patch at {patch}, but it cannot be read ({error}).",
            remedy="Name a file with a diff.",
        ) from None
    if "diff --git " not in diff:
        raise InputError(
            f"wanted a patch, but {patch.name} has no 'diff --git' line.",
            remedy="Make the patch with `git diff` or `git format-patch`.",
        )
    name = own_name(arm, hashlib.sha256(diff.encode()).hexdigest())
    own = with_own(folder, name)
    arms = tuple(
        one.model_copy(update={"patches": (*one.patches, str(patch.resolve()))})
        if one.name == name
        else one
        for one in own.lesson.arms
    )
    return replace(own, lesson=own.lesson.model_copy(update={"arms": arms})), name, diff


# A model of two or three CPUs that access memory, with and without a barrier. Pure.
#
# An x86 guest cannot show the effect of a missing barrier, so this is a model, and its results are
# *modelled*. Two accesses by one CPU keep their order if both access the same variable or if a
# barrier is between them. Otherwise they may be reordered (Documentation/memory-barriers.txt,
# "GUARANTEES"). In the model, all CPUs see the same memory, any barrier orders all accesses, and
# dependencies order no accesses.

State = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Step:
    """One access, and the CPU that performs it."""

    cpu: str
    access: Read | Write

    def __str__(self) -> str:
        return f"{self.cpu}: {self.access}"


def witness(litmus: Litmus, without: Sequence[str]) -> tuple[Step, ...] | None:
    """Return an allowed order of all accesses that ends in the forbidden state, or None.

    Args:
        without: names of removed barriers, such as `smp_mb()`.
    """
    queues = [
        [(step, _before(i, statements, without)) for i, step in _steps(cpu, statements)]
        for cpu, statements in litmus.cpus.items()
    ]
    for order in _orders(queues, ()):
        if _ends(litmus, order):
            return order
    return None


def swapped(litmus: Litmus, order: Sequence[Step]) -> tuple[Step, Step] | None:
    """Return two accesses by one CPU that `order` swaps, in the swapped order, or None."""
    for cpu, statements in litmus.cpus.items():
        written = [step.access for _, step in _steps(cpu, statements)]
        came = [step for step in order if step.cpu == cpu]
        for one, then in pairwise(came):
            if written.index(one.access) > written.index(then.access):
                return one, then
    return None


def _steps(cpu: str, statements: Sequence[Statement]) -> Iterator[tuple[int, Step]]:
    for i, one in enumerate(statements):
        if not isinstance(one, Barrier):
            yield i, Step(cpu, one)


def _before(i: int, statements: Sequence[Statement], without: Sequence[str]) -> frozenset[int]:
    """Return the indexes of all accesses that must happen before access `i`."""
    mine = statements[i]
    ordered: set[int] = set()
    barrier = False
    for k in range(i - 1, -1, -1):
        one = statements[k]
        if isinstance(one, Barrier):
            barrier = barrier or str(one) not in without
        elif barrier or (not isinstance(mine, Barrier) and one.variable == mine.variable):
            ordered.add(k)
    return frozenset(ordered)


def _orders(
    queues: list[list[tuple[Step, frozenset[int]]]], done: tuple[Step, ...]
) -> Iterator[tuple[Step, ...]]:
    """Yield every order of all CPUs' accesses that the model allows."""
    if not any(queues):
        yield done
    for number, queue in enumerate(queues):
        waiting = {step.access.place for step, _ in queue}
        for k, (step, before) in enumerate(queue):
            if not before & waiting:
                rest = [*queues[:number], queue[:k] + queue[k + 1 :], *queues[number + 1 :]]
                yield from _orders(rest, (*done, step))


def _ends(litmus: Litmus, order: Sequence[Step]) -> bool:
    state = dict(litmus.starts)
    for step in order:
        one = step.access
        if isinstance(one, Write):
            state[one.variable] = one.value
        else:
            state[one.into] = state[one.variable]
    return all(state.get(name) == value for name, value in litmus.never.items())


# Decide from measurements and debug kernels whether a change meets a challenge. Pure.

SHOWN = 2
"""Maximum number of kernel complaints that a judgement's line quotes. The console has all of
them.
"""
STRESS = "the stress on a debug kernel finds nothing (KASAN, lockdep, debug objects)"
WITHOUT = "the change adds nothing of what the challenge excludes"
ORDER = "no barrier between memory accesses is taken away"


@dataclass(frozen=True, slots=True)
class Line:
    """One judged criterion.

    Args:
        says: the criterion in words.
        wanted: the limits of a goal or rule; "" for other criteria.
        found: the measured figure, or what was found.
        holds: whether the criterion is met; None if it could not be judged here.
    """

    kind: Literal["goal", "rule", "without", "order", "stress"]
    says: str
    wanted: str
    found: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of a change.

    Args:
        met: whether the challenge is met. A criterion that was not judged counts as not met.
        because: a sentence that gives the reason for `met`.
    """

    lines: tuple[Line, ...]
    met: bool
    because: str


def judge(
    challenge: Challenge,
    arm: str,
    diff: str,
    tables: Mapping[str, Table],
    stress: Verdict | str,
) -> Judgement:
    """Decide whether a change meets a challenge.

    Args:
        arm: the changed arm.
        diff: diff of the change alone.
        tables: maps each claim's text to the table that decides it (`tables_of`).
        stress: the debug kernel's verdict, or why no debug kernel ran.
    """
    lines = []
    for kind, goal in limits(challenge):
        claim = goal.claim(arm)
        table = tables.get(claim.model_dump_json())
        if table is None:
            found, holds = "not measured", None
        elif arm in table.errors:
            error = table.errors[arm]  # an error of the guest or of the host
            found = error.sentence.rstrip(".")
            holds = False if isinstance(error, KernelError) else None
        else:
            found, holds = figure(claim, table), broken(claim, table) is None
        as_kind: Literal["goal", "rule"] = "goal" if kind == "goal" else "rule"
        lines.append(Line(as_kind, goal.says, wanted(claim), found, holds))
    for pattern in challenge.without:
        added = (one for one in diff.splitlines() if one[:1] == "+" and re.search(pattern, one))
        if (first := next(added, None)) is not None:
            lines.append(Line("without", WITHOUT, "", first[1:].strip(), False))
    if gone := barriers_gone(diff):
        lines.append(_order(challenge, gone))
    lines.append(_stress(stress))
    return _decide(challenge, tuple(lines))


def _order(challenge: Challenge, gone: tuple[str, ...]) -> Line:
    """Judge a removed barrier with the model. An x86 guest behaves the same without the barrier."""
    names, order = ", ".join(gone), challenge.order
    if order is None or not order.barriers & set(gone):
        said = f"{names} is gone; an x86 guest behaves the same, so no run can show it"
        return Line("order", ORDER, "", said, None)
    steps = witness(order, gone)
    if steps is None:
        said = f"modelled: {names} is gone, but no order of the accesses breaks it"
        return Line("order", order.says, "", said, None)
    pair = swapped(order, steps)
    why = f", so `{pair[0].access}` may come before `{pair[1].access}`" if pair else ""
    said = f"modelled: {names} is gone{why}; then {'; '.join(map(str, steps))}"
    return Line("order", order.says, "", said, False)


def _stress(stress: Verdict | str) -> Line:
    if isinstance(stress, str):
        return Line("stress", STRESS, "", stress, None)
    done = ", ".join(f"{n} {what}" for what, n in stress.work.items())
    rounds = "the guest did not finish" if stress.rounds is None else f"{stress.rounds} rounds"
    said = [rounds, *([done] if done else [])]
    said += [one.strip() for one in (*stress.complaints, *stress.failures)[:SHOWN]]
    return Line("stress", STRESS, "", "; ".join(said), stress.clean)


def _decide(challenge: Challenge, lines: tuple[Line, ...]) -> Judgement:
    failed = [line for line in lines if line.holds is False]
    open_ = [line for line in lines if line.holds is None]
    if challenge.aim == "break":
        if failed:
            return Judgement(lines, True, f"It breaks: {_short(failed[0])}.")
        because = "No judged criterion is broken"
        if open_:
            because += f", but not all could be judged: {_short(open_[0])}"
        return Judgement(lines, False, f"{because}.")
    if failed:
        worst = next((line for line in failed if line.kind != "goal"), failed[0])
        which = "The goal is not reached" if worst.kind == "goal" else "It is not right"
        return Judgement(lines, False, f"{which}: {_short(worst)}.")
    if open_:
        return Judgement(lines, False, f"Not all could be judged: {_short(open_[0])}.")
    return Judgement(lines, True, "All goals are reached, and nothing broken was found.")


def _short(line: Line) -> str:
    if line.kind in ("goal", "rule"):
        return f"{line.says} ({line.found}; wanted {line.wanted})"
    return line.found.rstrip(".")


# Text of challenges and judgements.


MARKS = {True: "holds", False: "FAILS", None: "not judged"}
WIDTH = 96


def listing(lesson: Lesson) -> str:
    """List all challenges of a lesson."""
    parts = []
    for name, one in lesson.challenges.items():
        parts += [f"{name}: {one.title} (starts from {one.arm}, aim: {one.aim})"]
        parts += [f"  {line}" for line in wrap(" ".join(one.ask.split()), WIDTH)]
        for kind, goal in limits(one):
            metric = lesson.metrics[goal.metric].title
            parts.append(f"  {kind}: {goal.says} ({metric}: {wanted(goal.claim(one.arm))})")
        parts.append(f"  hint: {' '.join(one.hint.split())}")
    return "\n".join(parts)


def text(name: str, challenge: Challenge, judged: Judgement) -> str:
    """Format the judgement of one change."""
    parts = [f"{name}: {'met' if judged.met else 'not met'}. {judged.because}"]
    parts += [part for line in judged.lines for part in _line(line)]
    if judged.met:
        parts += ["", *wrap(" ".join(challenge.answer.split()), WIDTH)]
    return "\n".join(parts)


def _line(line: Line) -> Iterator[str]:
    limit = f", wanted {line.wanted}" if line.wanted else ""
    yield f"  {MARKS[line.holds]:>10}  {line.kind}: {line.says}"
    yield f"  {'':>10}  {line.found}{limit}"
