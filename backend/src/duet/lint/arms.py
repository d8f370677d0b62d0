# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on a lesson's kernels: patches are readable, and arms differ only in their patches."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from string import Formatter

import msgpack
import numpy as np

from duet.base.errors import DuetError
from duet.kernels.arms import arm_specs
from duet.kernels.bases import BOTH, find_base
from duet.kernels.recipe import build_inputs, message_faults
from duet.lessons.plan import unreplaced
from duet.lessons.schema import Place
from duet.lessons.view import Patch, read_patch
from duet.lint.finding import Finding, NotChecked, Subject, unknown
from duet.lint.probes import events
from duet.runs.sought import LaneTables, ProbeSamples
from duet.session.tables import TABLES, Columns
from duet.stream.hub import RunLog

Found = Iterator[Finding | NotChecked]


def patches(subject: Subject) -> Found:
    """Check that every patch that an arm names can be read, and that no patch file is unused."""
    folder = subject.folder
    named: set[str] = set()
    for index, arm in enumerate(folder.lesson.arms):
        for number, path in enumerate(folder.patch_files(arm.name)):
            named.add(path.name)
            try:
                read_patch(path)
            except DuetError as error:
                where = f"arm {arm.name}"
                place = ("arms", index, "patches", number)
                if path.is_file():
                    yield Finding(_short(error), error.remedy, file=path, where=where)
                else:
                    yield Finding(_short(error), error.remedy, place, where=where)
    for path in sorted(folder.patch_dir.glob("*.patch")):
        if path.name not in named:
            sentence = f"no arm uses the patch {path.name}"
            yield Finding(sentence, "Name it in an arm, or remove it.", file=path, where="arms")


def messages(subject: Subject) -> Found:
    """Check the commit messages of the patches that make the lesson's arms."""
    folder = subject.folder
    used = {path for arm in folder.lesson.arms for path in folder.patch_files(arm.name)}
    for path in sorted(path for path in used if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        for sentence, remedy in message_faults(text):
            yield Finding(sentence, remedy, file=path, where=path.name)


def differ(subject: Subject) -> Found:
    """Check that no two arms have the same kernel and the same settings.

    Arms with the same kernel write the same files, so that none of them depends on what the kernel
    sets at boot.
    """
    first: dict[tuple[object, ...], str] = {}
    written: dict[tuple[object, ...], tuple[str, set[str]]] = {}
    usual = _usual_base(subject)
    for index, arm in enumerate(subject.folder.lesson.arms):
        made_of = (arm.base or usual, arm.config, arm.patches)
        other = first.setdefault((*made_of, frozenset(arm.writes)), arm.name)
        if other != arm.name:
            what = "both are stock kernels" if not arm.patches else "they have the same patches"
            what += " with the same settings" if arm.writes else ""
            sentence = f"the arms {other} and {arm.name} are the same kernel: {what}"
            remedy = (
                f"Name a patch from kernel-patches/{subject.folder.slug} in one of them, or give "
                "them different `writes:`."
            )
            yield Finding(sentence, remedy, ("arms", index, "patches"))
        files = {line.partition(" ")[0] for line in arm.writes}
        of, known = written.setdefault(made_of, (arm.name, files))
        if missing := sorted(known - files):
            sentence = f"the arm {of} writes {missing[0]}, and {arm.name} leaves it as it is"
            yield Finding(sentence, f"Write it in {arm.name} as well.", ("arms", index, "writes"))
        if more := sorted(files - known):
            sentence = f"the arm {arm.name} writes {more[0]}, and {of} leaves it as it is"
            yield Finding(sentence, f"Write it in {of} as well.", ("arms", index, "writes"))


def fair(subject: Subject) -> Found:
    """Check that the build inputs of arms on one base differ only by the arms' own patches.

    Also check that shared patches are used (a lesson without instrumentation has no folder both/),
    and that at least two arms have the same base. Arms with different bases or configs are not
    compared here. Measurements that compare them carry a warning.

    Source and compiler are not compared, because they belong to the machine and are identical for
    all arms. Config and shared patches are compared in the form that the builder uses.
    """
    patches_dir, folder = subject.root / "kernel-patches", subject.folder
    common: dict[tuple[str, str | None], tuple[object, ...]] = {}
    arms: dict[tuple[str, str | None], list[str]] = {}
    for index, (name, spec) in enumerate(arm_specs(folder).items()):
        if not all(path.is_file() for path in spec.patches):
            continue
        try:
            base = find_base(spec.base, patches_dir)
        except DuetError as error:
            place = ("arms", index, "base")
            yield Finding(_short(error), error.remedy, place, where=f"arm {name}")
            continue
        try:
            base.config(spec.config)
        except DuetError as error:
            place = ("arms", index, "config")
            yield Finding(_short(error), error.remedy, place, where=f"arm {name}")
            continue
        built = build_inputs(
            spec, base, patches_dir=patches_dir, tarball_sha256="", compiler="", linker=""
        )
        shared = built.patches[: len(built.patches) - len(spec.patches)]
        stands = (base.name, spec.config)
        arms.setdefault(stands, []).append(name)
        inputs = (built.config_sha256, shared)
        if common.setdefault(stands, inputs) != inputs:
            sentence = f"arm {name} differs from the others by more than its own patches"
            remedy = "Move the shared patches to both/."
            yield Finding(sentence, remedy, ("arms", index), where=f"arm {name}")
    if arms and max(map(len, arms.values())) < 2:
        sentence = "no two arms have the same base, so none differ by one patch"
        yield Finding(sentence, "Give two arms the same base.", ("arms",), where="arms")
    if folder.lesson.instrumentation == "none":
        for path in sorted((folder.patch_dir / BOTH).glob("*.patch")):
            sentence = (
                f"no kernel carries {BOTH}/{path.name}, because the lesson has no instrumentation"
            )
            remedy = "Remove it, or the line 'instrumentation: none'."
            yield Finding(sentence, remedy, file=path, where="instrumentation")


def _usual_base(subject: Subject) -> str:
    """Return the base of arms that name no base; "" if that base is missing."""
    try:
        return find_base(None, subject.root / "kernel-patches").name
    except DuetError:
        return ""


def lit(subject: Subject) -> Found:
    """Check that highlighted lines exist in an arm's patches.

    The stock arm may name removed lines.
    """
    folder = subject.folder
    lines = {arm.name: patch_lines(subject, arm.name) for arm in folder.lesson.arms}
    others = [line for of in lines.values() for line in of or () if line[:1] in "- "]
    for index, one in enumerate(folder.lesson.lit):
        for arm in one.arms or tuple(lines):
            own = lines.get(arm)
            if own is None:
                continue  # `patches` reports it
            if not any(one.match in line for line in own or others):
                sentence = f"no line in the patches of {arm} contains '{one.match}'"
                remedy = "Copy the line from the patch."
                if not own:
                    remedy = "Copy a line that another arm's patch removes."
                yield Finding(sentence, remedy, ("lit", index, "match"), where="lit")


def patch_lines(subject: Subject, arm: str) -> list[str] | None:
    """Return the `+`, `-` and context lines of an arm's patches; None if a patch is unreadable."""
    folder = subject.folder
    if all(one.name != arm for one in folder.lesson.arms):
        return None
    try:
        read: list[Patch] = [read_patch(path) for path in folder.patch_files(arm)]
    except DuetError:
        return None
    return [line for p in read for line in p.text.splitlines() if line[:1] in "+- "]


def _short(error: DuetError) -> str:
    return error.sentence.removesuffix(".")


# Rules on braces in commands, kernel parameters and input lines. Each pair of braces must contain a
# name that is replaced there, such as a knob.
VALUE = ["value"]


def workloads(subject: Subject) -> Found:
    """Check that workloads' commands and written values name only knobs of a run."""
    lesson = subject.folder.lesson
    knobs = [name for name, param in lesson.params.items() if param.applies != "model"]
    for name, workload in lesson.workloads.items():
        at: Place = ("workloads", name)
        texts: list[tuple[str, Place]] = [(workload.run, (*at, "run"))]
        texts += [(text, (*at, "setup", i)) for i, text in enumerate(workload.setup)]
        texts += [(text, (*at, "writes", i)) for i, text in enumerate(workload.writes)]
        for key, text in workload.optional.items():
            texts.append((text, (*at, "optional", key)))
            if key not in knobs:
                yield unknown("no run has a knob", key, knobs, (*at, "optional", key))
        for text, place in texts:
            yield from _named(text, knobs, place)


def values(subject: Subject) -> Found:
    """Check that kernel parameters and acts use no braces except {value}."""
    lesson = subject.folder.lesson
    for name, param in lesson.params.items():
        if param.cmdline:
            yield from _named(param.cmdline, VALUE, ("params", name, "cmdline"), "value")
    for name, act in lesson.acts.items():
        yield from _named(act.say, VALUE, ("acts", name, "say"), "value")


def probes(subject: Subject) -> Found:
    """Check that probes use only braces that are replaced."""
    for at, event in events(subject.folder.lesson):
        for key in ("define", "filter"):
            for match in unreplaced(getattr(event, key) or ""):
                sentence = f"'{match}' is not replaced here"
                remedy = (
                    "Write the value. Only {comm}, {sym:NAME}, {offset:STRUCT.MEMBER} and "
                    "{sizeof:STRUCT} are replaced."
                )
                yield Finding(sentence, remedy, (*at, key))


def _named(text: str, known: list[str], place: Place, what: str = "knob of a run") -> Found:
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        sentence = f"the braces do not match: {str(error).lower()}"
        yield Finding(sentence, "Write {{ for a literal brace.", place)
        return
    for name in names:
        if name not in known:
            yield unknown(
                f"nothing replaces {{{name}}} here; no {what} is called", name, known, place
            )


# Build the tables of each lane of a run from the messages that a viewer receives.

Look = tuple[float, dict[str, float]]
"""A sample: guest time in ns, and its facts."""


def lanes_of(log: RunLog) -> dict[str, LaneTables]:
    """Return each arm's tables, built from the messages in the log."""
    parts: dict[str, dict[str, list[Columns]]] = {}
    looks: dict[str, dict[str, list[Look]]] = {}
    threads: dict[str, int] = {}
    ends: dict[str, float] = {}
    for packet in log.backlog():
        if packet.type not in ("batch", "rows", "sample"):
            continue
        message = msgpack.unpackb(packet.body)
        arm = message["arm"]
        if packet.type == "sample":
            one = (message["t_ns"], message["facts"])
            looks.setdefault(arm, {}).setdefault(message["probe"], []).append(one)
            continue
        if packet.type == "rows":
            threads[arm] = sum(row["role"] == "thread" for row in message["rows"])
            continue
        ends[arm] = max(ends.get(arm, 0.0), message["watermark_ns"])
        if message["table"] in TABLES:
            parts.setdefault(arm, {}).setdefault(message["table"], []).append(
                {
                    name: np.frombuffer(message["columns"][name], dtype)
                    for name, dtype in TABLES[message["table"]].items()
                }
            )
    return {
        arm: LaneTables(
            {table: _joined(table, parts[arm].get(table, [])) for table in TABLES},
            threads.get(arm, 0),
            ends[arm],
            {probe: _seen(several) for probe, several in looks.get(arm, {}).items()},
        )
        for arm in parts
    }


def _seen(looks: list[Look]) -> ProbeSamples:
    # Guest times can be out of order by less than their error.
    looks = sorted(looks, key=lambda look: look[0])
    names = sorted({name for _, facts in looks for name in facts})
    columns = {
        name: np.array([facts.get(name, np.nan) for _, facts in looks], np.float64)
        for name in names
    }
    return ProbeSamples(np.array([t for t, _ in looks], np.float64), columns)


def _joined(table: str, parts: list[Columns]) -> Columns:
    return {
        name: np.concatenate([part[name] for part in parts] or [np.empty(0, dtype)])
        for name, dtype in TABLES[table].items()
    }


# Rules on programs: the guest has each command, and the lesson's own programs compile.
RECIPE = "vm-images/root/build"
RECIPE_S = 30.0
COMPILE_S = 60.0
KINDS = ("c", "sh")
"""Suffixes of workload sources that the recipe builds."""
MESSAGE = re.compile(r"^[^:\n]+:(\d+)(?::\d+)?: (?:fatal )?(?:error|warning): (.*)$", re.MULTILINE)
SHELL_MESSAGE = re.compile(r"^[^:\n]+: (?:line )?(\d+): (.*)$", re.MULTILINE)


def programs(subject: Subject) -> Found:
    """Check that every command of a workload is a program that the guest has."""
    lesson, own = subject.folder.lesson, workload_sources(subject)
    reported = guest_programs(subject.root)
    if isinstance(reported, str):
        subject.outside.lasting = False
        yield NotChecked(f"whether the guest has the workloads' programs: {reported}")
        return
    known = sorted({*reported["programs"], *(path.stem for path in own)})
    for name, workload in lesson.workloads.items():
        at: Place = ("workloads", name)
        commands = [(workload.run, (*at, "run"))]
        commands += [(text, (*at, "setup", i)) for i, text in enumerate(workload.setup)]
        for text, place in commands:
            program = PurePosixPath(text.split()[0]).name if text.split() else ""
            if program not in known:
                found = unknown("no guest has a program", program, known, place)
                remedy = (
                    f"Write workload/{program or 'NAME'}.c or .sh; "
                    f"`{RECIPE} --programs` lists what guests have."
                )
                yield Finding(found.sentence, remedy, place)


def builds(subject: Subject) -> Found:
    """Check that the lesson's own programs compile without a warning, with the recipe's flags."""
    reported = guest_programs(subject.root)
    if isinstance(reported, str):
        subject.outside.lasting = False
        yield NotChecked(f"whether the workloads compile: {reported}")
        return
    compiler = os.environ.get("CC", "gcc")
    subject.outside.watch_program(compiler)
    subject.outside.watch_program("sh")
    for path in workload_sources(subject):
        if path.suffix == ".c" and shutil.which(compiler) is None:
            yield NotChecked(f"whether {path.name} compiles: there is no {compiler}")
            continue
        stat = path.stat()
        flags = tuple(reported["cflags"]) if path.suffix == ".c" else ()
        messages, used = compile_messages(
            path.resolve(), flags, compiler, stat.st_mtime_ns, stat.st_size
        )
        subject.outside.watch(*used)
        for line, message in messages:
            what = "does not compile" if path.suffix == ".c" else "is not a shell script"
            sentence = f"{path.name} {what}: {message}"
            yield Finding(sentence, "Correct that line.", file=path, line=line)


def workload_sources(subject: Subject) -> list[Path]:
    """Return the source files of the lesson's own programs."""
    folder = subject.folder.folder / "workload"
    return sorted(path for kind in KINDS for path in folder.glob(f"*.{kind}"))


@lru_cache(maxsize=1)
def guest_programs(root: Path) -> dict[str, list[str]] | str:
    """Return programs and compiler flags from the guest root's recipe, or an error as a string."""
    try:
        done = subprocess.run(
            [sys.executable, str(root / RECIPE), "--programs"],
            capture_output=True,
            text=True,
            timeout=RECIPE_S,
        )
    except subprocess.TimeoutExpired:
        return f"{RECIPE} does not answer within {RECIPE_S:g} s"
    if done.returncode:
        return done.stderr.strip().partition("\n")[0] or f"{RECIPE} failed"
    reported: dict[str, list[str]] = json.loads(done.stdout)
    return reported


@lru_cache(maxsize=64)
def compile_messages(
    path: Path, flags: tuple[str, ...], compiler: str, mtime_ns: int, size: int
) -> tuple[tuple[tuple[int, str], ...], tuple[str, ...]]:
    """Run the compiler or shell; return (line, message) for each error and warning.

    Also return the files that the compiler has used besides the source: its own programs, headers
    and libraries.

    The file's time and size only serve as keys of the cache.
    """
    with tempfile.TemporaryDirectory() as scratch:
        out, used = Path(scratch) / path.stem, Path(scratch) / "used"
        words = [compiler, *flags, "-MD", "-MF", str(used), "-o", str(out), str(path)]
        if path.suffix != ".c":
            words = ["sh", "-n", str(path)]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                timeout=COMPILE_S,
                env=os.environ | {"LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            return ((1, f"{words[0]} took longer than {COMPILE_S:g} s"),), ()
        if done.returncode == 0:
            names = used.read_text().split()[1:] if used.exists() else []
            headers = [name for name in names if name not in ("\\", str(path))]
            return (), (*(parts_of(compiler) if names else ()), *headers)
    pattern = MESSAGE if path.suffix == ".c" else SHELL_MESSAGE
    found = [(int(match[1]), match[2].strip()) for match in pattern.finditer(done.stderr)]
    return tuple(found) or ((1, done.stderr.strip().partition("\n")[0] or "no message"),), ()


@lru_cache(maxsize=4)
def parts_of(compiler: str) -> tuple[str, ...]:
    """Return the programs and static libraries that a compiler uses for a static program."""
    questions = [f"-print-prog-name={name}" for name in ("cc1", "as", "collect2", "ld")]
    questions += [f"-print-file-name={name}" for name in ("libc.a", "libgcc.a", "crt1.o")]
    answers = [
        subprocess.run(
            [compiler, question], capture_output=True, text=True, timeout=COMPILE_S, check=False
        ).stdout.strip()
        for question in questions
    ]
    # For a program that it finds by PATH, the compiler answers with the bare name.
    return tuple(found for one in answers if (found := shutil.which(one) or one) and "/" in found)
