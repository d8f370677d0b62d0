# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a trial as a lesson into FOLDER/lessons/90-NAME and FOLDER/kernel-patches/90-NAME.

FOLDER has the layout of DUET_LESSONS, so every verb and the page can open the lesson.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from duet.base.errors import InputError
from duet.kernels.bases import ASKED
from duet.kernels.recipe import write_options
from duet.lessons.load import SLUG, read_lesson
from duet.trials.command import Command, c_string
from duet.trials.shell_line import read_line
from duet.trials.spec import Better, Headline, Trial, TrialArm, TrialBase, plain_name
from duet.trials.tracing import Tracing, Variable

# The steps of a trial's lesson, and their texts. These texts must be true of every trial.

Tree = dict[str, Any]
WHOLE_MS = 1000.0
"""Maximum length of the first step's window."""
CLOSE = 0.1
"""Maximum share of that window that the close-up steps show."""
CALLS = 20
"""Number of calls of the first function that the close-up steps show."""


@dataclass(frozen=True, slots=True)
class Times:
    """Durations of the command and of calls. A duration is 0 until it has been measured.

    Args:
        elapsed_ms: duration of the command on the slowest kernel.
        call_ms: mean duration of the first function's calls on the slowest kernel.
    """

    elapsed_ms: float = 0
    call_ms: float = 0


def story(trial: Trial, tracing: Tracing, times: Times) -> Tree:
    """Return the content of story.yaml. The durations in `times` determine the steps' windows."""
    arms = [arm.name for arm in trial.arms]
    whole = min(times.elapsed_ms or WHOLE_MS, WHOLE_MS)
    calls = [function.key for function in tracing.functions]
    near: Tree = {"moment": "busiest", "window_ms": _ms(whole * CLOSE)}
    if calls:
        window = min(times.call_ms * CALLS, whole * CLOSE) or whole * CLOSE
        near = {"align": "operation", "moment": "first_op", "window_ms": _ms(window)}
    parts = ["functions", *(["points"] if tracing.marks else [])]
    parts += ["counters"] if tracing.variables else []
    focus = ["running", *calls]
    scenes: list[Tree] = [
        {
            **{"id": "whole", "title": "The command", "arms": arms},
            **{"window_ms": _ms(whole), "moment": "start"},
            **{"focus": ["running", "runnable", "wait_other"], "show": parts},
            "sentence": "states",
        },
        {
            **{"id": "calls", "title": "A few calls" if calls else "Where most happens"},
            **{"arms": arms, **near, "focus": focus, "show": [*parts, "latency"]},
            "sentence": "functions" if calls else "states",
        },
        {
            **{"id": "cpus", "title": "By CPU", "arms": arms, **near},
            **{"focus": ["running", "runnable"], "show": ["cpus", *parts], "sentence": "states"},
        },
        {
            **{"id": "patch", "title": "What differs", "arms": arms, **near},
            **{"focus": focus, "show": ["patch", *parts], "sentence": "wait_cost"},
        },
        {
            **{"id": "verdict", "title": "In numbers", "arms": arms, **near},
            **{"focus": focus, "show": ["knobs", "measured", *parts], "sentence": "rates"},
        },
    ]
    return {"hero": "whole", "scenes": scenes}


def _ms(value: float) -> float:
    return max(float(f"{value:.3g}"), 0.001)


def content(trial: Trial, tracing: Tracing) -> str:
    """Return the content of content.md: general text, and the patches' messages."""
    names = ", ".join(f"`{f.name}()`" for f in tracing.functions)
    drawn = f"The lanes show calls of {names}." if names else "No function is traced."
    missing = "".join(f"\n- {sentence}." for sentence in tracing.missing)
    parts = {
        "whole": f"Each kernel runs the same command, {_code(trial.command.line)}. {drawn}"
        + (f"\n\nLeft out:\n{missing}" if missing else ""),
        "calls": _calls(tracing) + _more(trial, tracing),
        "cpus": "The same window, with one row per CPU: which task runs where.",
        "patch": "\n\n".join([*(_arm_text(arm) for arm in trial.arms), *_checked(trial)]),
        "verdict": "The table is from runs without tracing. Traced runs explain; they give no"
        " verdict.",
    }
    return "\n\n".join(f"## {name}\n{text}" for name, text in parts.items()) + "\n"


def _checked(trial: Trial) -> list[str]:
    """Return the text about `duet check`, which finds bugs that no lane shows."""
    if not trial.check:
        return []
    call = trial.check.replace("`", "'").replace("\n", " ")
    return [
        "Lanes and numbers do not show bugs. To run these kernels under KASAN and lockdep, with"
        f" stress that fits the files: `{call}`"
    ]


def _calls(tracing: Tracing) -> str:
    if not tracing.functions:
        return "The window shows the busiest moment."
    return (
        f"The first typical call of `{tracing.functions[0].name}()` begins at the left edge of"
        " each lane. A hatched stretch is a task that sleeps inside a call."
    )


def _more(trial: Trial, tracing: Tracing) -> str:
    """Return text about the variables and fields, the microscope, and the proposed events."""
    parts = []
    if tracing.variables:
        parts.append("The x-ray reads " + ", ".join(map(_variable, tracing.variables)) + ".")
    if tracing.fields:
        fields = ", ".join(f"`{field.struct}.{field.name}`" for field in tracing.fields)
        parts.append(f"The patch adds or moves {fields}; the table shows their offsets.")
    if tracing.watched:
        parts.append(
            "The microscope counts which functions read and write them, by cache line:"
            f" `./duet microscope {trial.slug} --arm {trial.arms[-1].name}`"
        )
    if tracing.proposed:
        rows = "".join(f"\n- `--trace '{one.argument}'`" for one in tracing.proposed)
        parts.append(f"More events of this subsystem can be traced:\n{rows}")
    return "".join(f"\n\n{part}" for part in parts)


def _variable(one: Variable) -> str:
    return f"`{one.path}`" + (f" (only in {', '.join(one.arms)})" if one.arms else "")


def _arm_text(arm: TrialArm) -> str:
    """Return an arm's title and its patches with their messages."""
    lines = [f"**{arm.title}**: {arm.about}."]
    for patch in arm.patches:
        link = f" ([mail]({patch.link}))" if patch.link else ""
        by = f", by {patch.author.partition('<')[0].strip()}" if patch.author else ""
        commit = f", commit `{patch.commit}`" if patch.commit else ""
        lines.append(f"*{_plain(patch.subject)}*{by}{link}{commit}")
        lines += ["", *(_plain(line) for line in patch.message.splitlines())]
        lines.append("")
    return "\n\n".join([lines[0], "\n".join(lines[1:])]).strip()


def _code(text: str) -> str:
    """Format a command as Markdown code, on one line."""
    flat = " ".join(text.split()).replace("`", "'")
    return f"`{flat}`"


def _plain(text: str) -> str:
    """Escape Markdown in a mail's text."""
    for sign in "\\`*_[]<>#":
        text = text.replace(sign, f"\\{sign}")
    return text


CAVEATS = (
    "One command on one emulated machine. Another workload may show the opposite.",
    "Emulated CPUs have no caches, so the effect of a patch on cache misses does not show.",
    "Probes cost time. Traced runs explain; they never give a verdict.",
)


# The metrics of a trial's lesson.
WATCHED = "watched"
"""Name of the workload that runs under the microscope. The microscope makes a guest slow."""
SHARED = {"reads": "reads", "writes": "writes", "rmws": "read-modify-writes"}
TICK_MS = 4.0
"""Resolution in ms of user and system time with TICK_CPU_ACCOUNTING and HZ=250."""
SAMPLED = ("user_ms", "system_ms")
SHARED_PREFIX = "shared_"
"""Prefix of the microscope's metric names."""


def trial_metrics(trial: Trial, tracing: Tracing) -> Tree:
    """Return metrics for the number that the command prints (if known), and for measured times.

    The times are those of the command and of the traced functions.
    """
    metrics: Tree = {}
    if (head := trial.headline) is not None:
        metrics["headline"] = {"title": head.title, "unit": head.unit, "better": head.better}
        metrics["headline"]["line"] = head.line
    for name, title, extra in (
        ("elapsed_ms", "time of the command", False),
        ("user_ms", "its time in user space, sampled", True),
        ("system_ms", "its time in the kernel, sampled", True),
    ):
        line = rf"^{trial.program}: .*\b{name}=(?P<value>[\d.]+)"
        metrics[name] = {"title": title, "unit": "ms", "better": "lower", "line": line}
        if extra:
            metrics[name] |= {"extra": True, "resolution": TICK_MS, "sampled": True}
    for function in tracing.functions:
        span = [function.key, f"{function.key}_ret"]
        some = {"arms": list(function.arms)} if function.arms else {}
        metrics[f"{function.key}_us"] = {
            **{"title": f"{function.name}(), mean", "unit": "us", "better": "lower"},
            **{"span": span, "scale": 0.001, "extra": True, **some},
        }
        metrics[f"{function.key}_calls"] = {
            **{"title": f"{function.name}()", "unit": "calls", "better": "neither"},
            **{"event": function.key, "extra": True, **some},
        }
    metrics |= _shared(tracing.watched) if tracing.watched else {}
    for field in tracing.fields:
        name = f"{field.struct}.{field.name}"
        where: Tree = {"title": f"{name} begins at", "unit": "bytes", "better": "neither"}
        where |= {"dwarf": f"offsetof struct {name}", "extra": True}
        where |= {"arms": list(field.arms)} if field.arms else {}
        metrics[plain_name(f"{field.struct}-{field.name}-at").replace("-", "_")] = where
    return metrics


def _shared(watched: Sequence[str]) -> Tree:
    """Return metrics for accesses to shared cache lines per call of the first function."""
    metrics: Tree = {}
    for count, words in SHARED.items():
        title = f"{words} on lines that CPUs share and write"
        one: Tree = {"title": title, "unit": f"per {watched[0]}()", "better": "lower"}
        one |= {"microscope": {"count": count, "shared": True}, "workloads": [WATCHED]}
        metrics[f"{SHARED_PREFIX}{count}"] = one
    return metrics


HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by `duet try`: {}\n"
DIGEST = ".trial"
"""File with a digest of the trial from which the folder was written."""
MOST_RUNS = 1000
XRAY = "numbers"
"""Name of the probe that reads variables (docs/PROBES.md)."""
XRAY_HZ = 20
ROLES = ("before", "after", "alternative")
KERNEL_TASKS = r"(?:kworker|swapper|ksoftirqd|rcu_|migration|cpuhp|kthreadd|duet-agent)"


def write_trial(folder: Path, trial: Trial, tracing: Tracing, times: Times) -> Path:
    """Write a trial's files. If the trial is unchanged, its recordings stay.

    Args:
        folder: folder for this trial alone. It is created if missing.
        times: the durations that have been measured so far.

    Returns:
        The folder of the lesson.

    Raises:
        LessonError: the written lesson is invalid. That would be a bug in this module.
    """
    lesson = folder / "lessons" / trial.slug
    patches = folder / "kernel-patches" / trial.slug
    digest = hashlib.sha256(repr((trial, sorted(trial.command.files.items()))).encode()).hexdigest()
    if folder.exists() and _read(folder / DIGEST) != digest:
        shutil.rmtree(folder)
    for made in (lesson / "workload", patches):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
    (folder / DIGEST).write_text(digest)
    files = {arm.name: _write_patches(patches, arm) for arm in trial.arms}
    for base in trial.bases:
        _write_base(folder / "kernel-patches" / "bases" / base.name, base)
    _write_program(lesson / "workload", trial)
    _dump(lesson / "lesson.yaml", "what runs", _lesson(trial, tracing, files))
    _dump(lesson / "trace.yaml", "what is traced", _trace(trial, tracing))
    _dump(lesson / "story.yaml", "the steps", story(trial, tracing, times))
    _dump(lesson / "evidence.yaml", "what not to conclude", {"caveats": list(CAVEATS)})
    (lesson / "content.md").write_text(content(trial, tracing), encoding="utf-8")
    read_lesson(lesson)
    return lesson


def _read(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _dump(path: Path, what: str, tree: Tree) -> None:
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
    path.write_text(HEAD.format(what) + text, encoding="utf-8")


def _write_patches(folder: Path, arm: TrialArm) -> list[str]:
    names = []
    for number, patch in enumerate(arm.patches, 1):
        name = f"{arm.name}-{number:04}-{plain_name(patch.subject)}.patch"
        (folder / name).write_text(patch.text(), encoding="utf-8")
        names.append(name)
    return names


def _write_base(folder: Path, base: TrialBase) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, fragment in enumerate(base.config):
        names.append(f"{number}.config")
        shutil.copyfile(fragment, folder / names[-1])
    if base.asked:
        names.append(ASKED)
        (folder / ASKED).write_text(write_options(dict(base.asked)), encoding="utf-8")
    tree: Tree = {
        "about": base.about,
        "series": base.series,
        "source": base.source,
        "config": names,
    }
    tree |= {"like": base.like} if base.like else {}
    _dump(folder / "base.yaml", "a kernel base", {**tree, "lenient": True})


def _write_program(folder: Path, trial: Trial) -> None:
    template = Path(__file__).with_name("command.c").read_text(encoding="utf-8")
    direct = f"exec {trial.command.line}" if trial.command.program else trial.command.line
    text = template.replace('"@COMMAND@"', c_string(direct)).replace("@NAME@", trial.program)
    (folder / f"{trial.program}.c").write_text(text, encoding="utf-8")
    for place, file in trial.command.files.items():
        target = folder / "files" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def _lesson(trial: Trial, tracing: Tracing, files: dict[str, list[str]]) -> Tree:
    comm = trial.comm or trial.command.comm
    rows = rf"^(?!{KERNEL_TASKS})" if comm == "*" else "^"
    first = tracing.functions[0] if tracing.functions else None
    operation: Tree = {"name": "run of the command", "plural": "runs of the command"}
    if first is not None:
        operation = {"name": f"call of {first.name}()", "plural": f"calls of {first.name}()"}
        operation |= {"open": first.key, "close": f"{first.key}_ret"}
    arms = []
    for number, arm in enumerate(trial.arms):
        tree: Tree = {"name": arm.name, "title": arm.title, "role": ROLES[min(number, 2)]}
        tree |= {"summary": arm.about}
        tree |= {"patches": files[arm.name]} if files[arm.name] else {}
        tree |= {"base": arm.base} if arm.base else {}
        tree |= {"source": asdict(arm.source)} if arm.source else {}
        arms.append(tree)
    workload = {
        "title": "the command",
        "summary": trial.command.line[:200],
        "run": " ".join([trial.program, *(f"{{{name}}}" for name in [*_skeleton()["params"]][:2])]),
        "comm": comm,
        "rows": rows,
        "start_marker": f"{trial.program}: start",
        "ops_line": rf"^{trial.program}: ops=(?P<ops>\d+) per_s=(?P<per_s>[\d.]+)",
    }
    return {
        "title": trial.name,
        "question": _question(trial),
        "summary": f"A trial of {', '.join(arm.title for arm in trial.arms)}.",
        **({"made_by": trial.given} if trial.given else {}),
        "clock": trial.clock,
        **_skeleton()["lesson"],
        "memory_mb": trial.memory_mb,
        "metrics": trial_metrics(trial, tracing),
        "operation": operation,
        "arms": arms,
        "params": _params(trial),
        "workloads": _workloads(workload, tracing),
    }


def _workloads(command: Tree, tracing: Tracing) -> Tree:
    """Return the command's workload. If functions are watched, add a copy for the microscope."""
    if not tracing.watched:
        return {"command": command}
    watched = {**command, "title": "the command under the microscope"}
    return {"command": command, WATCHED: watched}


def _question(trial: Trial) -> str:
    what = trial.arms[1].title
    if len(trial.arms) == 2 and trial.arms[1].patches:
        what = f"“{trial.arms[1].patches[-1].subject}”"
    return f"What does {what} do to {trial.command.line[:60]}?"


def _params(trial: Trial) -> Tree:
    runs, limit, cpus = (name for name in _skeleton()["params"])
    params: Tree = _skeleton()["params"]
    params[runs] |= {"default": trial.times, "max": max(MOST_RUNS, trial.times)}
    params[limit] |= {"default": trial.timeout}
    params[cpus] |= {"default": trial.vcpus}
    return params


def _skeleton() -> Tree:
    """Load skeleton.yaml. Each call returns a new copy."""
    text = Path(__file__).with_name("skeleton.yaml").read_text(encoding="utf-8")
    tree: Tree = yaml.safe_load(text)
    return tree


def _trace(trial: Trial, tracing: Tracing) -> Tree:
    everyone = (trial.comm or trial.command.comm) == "*"
    skeleton = _skeleton()
    kinds: list[Tree] = skeleton["kinds"]
    probes: list[Tree] = skeleton["probes"]
    for state in probes if everyone else []:
        del state["filter"]
    spans: list[Tree] = []
    points: list[Tree] = []
    for function in tracing.functions:
        event = "duet/" + re.sub(r"\W", "_", function.key)
        some: Tree = {"arms": list(function.arms)} if function.arms else {}
        key, wait = function.key, f"in_{function.key}"
        entry = {"name": key, "event": event, "define": f"p:{event} {function.name}"}
        leave = {"name": f"{key}_ret", "event": f"{event}_ret"}
        leave["define"] = f"r64:{event}_ret {function.name}"
        probes += [{**entry, **some}, {**leave, **some}]
        title = f"{function.name}()"
        kinds.append({"name": key, "title": title, "colour": "mechanism", "layer": "function"})
        sleep = {"name": wait, "title": f"sleeps in {title}", "colour": "wait", "layer": "state"}
        kinds.append(sleep)
        spans.append({"kind": key, "open": key, "close": f"{key}_ret", "wait": wait})
    for mark in tracing.marks:
        probe: Tree = {"name": mark.key, "event": mark.event}
        probe |= {"define": mark.define} if mark.define else {}
        probe |= {"arms": list(mark.arms)} if mark.arms else {}
        probes.append(probe)
        points.append({"name": mark.key, "probe": mark.key, "title": mark.title})
        points[-1] |= {"fields": list(mark.fields)} if mark.fields else {}
    tree: Tree = {"kinds": kinds, "probes": probes, "spans": spans, "points": points}
    if tracing.variables:
        paths = [one.path for one in tracing.variables]
        tree["xray"] = [{"probe": XRAY, "of": ",".join(paths), "hz": XRAY_HZ}]
        tree["counters"] = [
            {"name": plain_name(path), "title": path, "xray": XRAY, "field": path} for path in paths
        ]
    if tracing.watched:
        names = list(tracing.watched)
        tree["microscope"] = {"functions": names, "operation": names[0], "workloads": [WATCHED]}
    return tree


# The headline metric of a trial: the number of --metric, or the rate of stress-ng's first stressor.

STRESS = "stress-ng"
LIST_S = 20.0
SHORT = re.compile(r"^-(\w) N, +--([a-z0-9-]+) N", re.MULTILINE)
"""One-letter options in stress-ng's help. If two have the same letter, stress-ng uses the first."""


def headline(metric: str, unit: str, better: Better, command: Command) -> Headline | None:
    """Return the number that the command prints, or None if the command prints no known number.

    Raises:
        InputError: --metric is not a regular expression with a group `value`.
    """
    if metric:
        return _own(metric, unit, better)
    asked = stressors(command.line)
    if not asked:
        return None
    rate = r"\s+\d+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+(?P<value>[\d.]+)"
    line = rf"(?<![\w-]){re.escape(asked[0])}{rate}"
    return Headline(f"bogo ops of {asked[0]} (real time)", "bogo ops/s", line)


def stressors(line: str) -> list[str]:
    """Return the stressors, in order, of the first stress-ng command that has --metrics."""
    for one in read_line(line).commands:
        words = one.started
        if not words or PurePosixPath(words[0]).name != STRESS:
            continue
        if any(word.startswith("--metrics") or word == "-M" for word in words):
            return [name for word in words[1:] if (name := _stressor(word))]
    return []


def _stressor(word: str) -> str | None:
    """Return the stressor that an option of stress-ng starts, or None for other options."""
    if short := re.match(r"-([A-Za-z])\d*$", word):
        letters = dict(reversed(SHORT.findall(_said("--help"))))
        name = letters.get(short[1], "")
    else:
        name = word[2:].partition("=")[0] if word.startswith("--") else ""
    return name if name in _said("--stressors").split() else None


@lru_cache(maxsize=2)
def _said(option: str) -> str:
    """Return what this machine's stress-ng prints for an option. Guests use the same stress-ng."""
    program = shutil.which(STRESS)
    if program is None:
        return ""
    words = [program, option]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIST_S)
    return done.stdout


def _own(metric: str, unit: str, better: Better) -> Headline:
    if "(?P<value>" not in metric:
        raise InputError(
            "--metric wants a regular expression with a group `value`, but the given one has none.",
            remedy=r"Write for example: --metric 'rate=(?P<value>[\d.]+)'.",
        )
    try:
        re.compile(metric)
    except re.error as error:
        raise InputError(
            f"--metric wants a regular expression, but the given one is invalid: {error}.",
            remedy="Correct it.",
        ) from None
    return Headline(unit or "value", unit or "1", metric, better)


# Save a trial as a lesson with another name and the same files.


def save_lesson(folder: Path, trial: Trial, target: Path) -> tuple[Path, Path]:
    """Copy the files of a trial, except its recording.

    Args:
        folder: folder of the trial.
        target: TOP/lessons/NN-name. The patches go to TOP/kernel-patches/NN-name.

    Returns:
        The lesson's folder and its patches' folder.

    Raises:
        InputError: the name is not allowed, or a target exists.
    """
    target = target.expanduser().resolve()
    patches = target.parents[1] / "kernel-patches" / target.name
    check_target(target)
    shutil.copytree(
        folder / "lessons" / trial.slug, target, ignore=shutil.ignore_patterns("recorded")
    )
    shutil.copytree(folder / "kernel-patches" / trial.slug, patches)
    for base in trial.bases:
        place = Path("kernel-patches", "bases", base.name)
        shutil.copytree(folder / place, target.parents[1] / place, dirs_exist_ok=True)
    return target, patches


def check_target(target: Path) -> None:
    """Check whether a lesson can be saved to `target`. This is checked before anything is built.

    Raises:
        InputError: see save_lesson.
    """
    target = target.expanduser().resolve()
    if not SLUG.match(target.name) or target.parent.name != "lessons":
        raise InputError(
            f"--save-lesson wants a folder such as lessons/06-my-question, but got {target}.",
            remedy="Name a folder in lessons/: two digits, a dash and lower-case letters.",
        )
    patches = target.parents[1] / "kernel-patches" / target.name
    if taken := next((path for path in (target, patches) if path.exists()), None):
        raise InputError(
            f"{taken} already exists.", remedy="Choose another name, or remove this folder."
        )
