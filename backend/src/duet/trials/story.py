# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a trial, and their text: what every trial can show, without a teacher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duet.trials.spec import Trial, TrialArm
from duet.trials.tracing import Tracing, Variable

Tree = dict[str, Any]
WHOLE_MS = 1000.0
"""Most of a run that the first step shows."""
CLOSE = 0.1
"""Most of it, as a share, that the close steps show."""
CALLS = 20
"""Calls of the first function that these show."""


@dataclass(frozen=True, slots=True)
class Times:
    """What is known of the lengths of things; 0: nothing yet.

    Args:
        elapsed_ms: of the command, on the slowest kernel.
        call_ms: mean of the first function's calls, on the slowest kernel.
    """

    elapsed_ms: float = 0
    call_ms: float = 0


def story(trial: Trial, tracing: Tracing, times: Times) -> Tree:
    """story.yaml; `times` decides the windows."""
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
    """content.md: what is known without a teacher, and what the patches say of themselves."""
    names = ", ".join(f"`{f.name}()`" for f in tracing.functions)
    drawn = f"Drawn are calls of {names}." if names else "No function is traced."
    missing = "".join(f"\n- {sentence}." for sentence in tracing.missing)
    parts = {
        "whole": f"Each kernel runs the same command, {_code(trial.command.line)}. {drawn}"
        + (f"\n\nLeft out:\n{missing}" if missing else ""),
        "calls": _calls(tracing) + _more(trial, tracing),
        "cpus": "The same window, a row for each CPU: who runs where.",
        "patch": "\n\n".join([*(_arm_text(arm) for arm in trial.arms), *_checked(trial)]),
        "verdict": "The table is of runs without tracing. Traced runs explain, and give no"
        " verdict.",
    }
    return "\n\n".join(f"## {name}\n{text}" for name, text in parts.items()) + "\n"


def _checked(trial: Trial) -> list[str]:
    """How to look for mistakes, which no lane shows."""
    if not trial.check:
        return []
    call = trial.check.replace("`", "'").replace("\n", " ")
    return [
        "Lanes and numbers say nothing of mistakes. The same kernels under KASAN and lockdep, with"
        f" stress that fits the files: `{call}`"
    ]


def _calls(tracing: Tracing) -> str:
    if not tracing.functions:
        return "The window stands where most happens."
    return (
        f"The first typical call of `{tracing.functions[0].name}()` stands at the left of"
        " each lane. A hatched stretch is a task that sleeps inside a call."
    )


def _more(trial: Trial, tracing: Tracing) -> str:
    """What a next call can show: fields under the microscope, and events of the subsystem."""
    parts = []
    if tracing.variables:
        parts.append("The x-ray reads " + ", ".join(map(_variable, tracing.variables)) + ".")
    if tracing.fields:
        fields = ", ".join(f"`{field.struct}.{field.name}`" for field in tracing.fields)
        parts.append(f"The patch adds or moves {fields}; the numbers say where they begin.")
    if tracing.watched:
        parts.append(
            "Who reads and writes them, line by line, the microscope counts:"
            f" `./duet microscope {trial.slug} --arm {trial.arms[-1].name}`"
        )
    if tracing.proposed:
        rows = "".join(f"\n- `--trace '{one.argument}'`" for one in tracing.proposed)
        parts.append(f"Events of this subsystem that can be traced, too:\n{rows}")
    return "".join(f"\n\n{part}" for part in parts)


def _variable(one: Variable) -> str:
    return f"`{one.path}`" + (f" ({', '.join(one.arms)} alone)" if one.arms else "")


def _arm_text(arm: TrialArm) -> str:
    """What an arm is made of, with the messages of its patches."""
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
    """A command in Markdown, on one line."""
    flat = " ".join(text.split()).replace("`", "'")
    return f"`{flat}`"


def _plain(text: str) -> str:
    """Text of a mail, so that Markdown takes it as it stands."""
    for sign in "\\`*_[]<>#":
        text = text.replace(sign, f"\\{sign}")
    return text


CAVEATS = (
    "One command on one emulated machine. Another workload may show the opposite.",
    "Emulated CPUs have no caches: what a patch does to cache misses is not seen.",
    "Probes cost time. Traced runs explain; they never give a verdict.",
)
