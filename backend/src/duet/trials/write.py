# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial as the folder of a lesson: FOLDER/lessons/90-NAME and FOLDER/kernel-patches/90-NAME.

FOLDER is laid out as DUET_LESSONS wants it, so that every verb and the page take it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import yaml

from duet.kernels.needed import ASKED
from duet.kernels.recipe import write_options
from duet.lessons.files import read_lesson
from duet.trials.command import c_string
from duet.trials.metrics import WATCHED, Tree, trial_metrics
from duet.trials.spec import Trial, TrialArm, TrialBase, plain_name
from duet.trials.story import CAVEATS, Times, content, story
from duet.trials.tracing import Tracing

HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by `duet try`: {}\n"
DIGEST = ".trial"
"""Says from which trial the folder was written."""
MOST_RUNS = 1000
XRAY = "numbers"
"""The probe that reads variables; docs/PROBES.md."""
XRAY_HZ = 20
ROLES = ("before", "after", "alternative")
KERNEL_TASKS = r"(?:kworker|swapper|ksoftirqd|rcu_|migration|cpuhp|kthreadd|duet-agent)"


def write_trial(folder: Path, trial: Trial, tracing: Tracing, times: Times) -> Path:
    """Write the files of a trial; what was recorded of the same trial stays.

    Args:
        folder: of this trial alone; appears if it is not there.
        times: how long things take, as far as that is known.

    Returns:
        The folder of the lesson.

    Raises:
        LessonError: what was written is no lesson, which is a mistake of this module.
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
    """The command, and where something is watched the same under the microscope."""
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
    """What all trials have; a new copy with each call."""
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
