# SPDX-License-Identifier: GPL-2.0-or-later
"""The headline of a trial: the number of --metric, or the rate of stress-ng's first stressor."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import PurePosixPath

from duet.errors import InputError
from duet.trials.command import Command
from duet.trials.shell_line import read_line
from duet.trials.spec import Better, Headline

STRESS = "stress-ng"
LIST_S = 20.0
SHORT = re.compile(r"^-(\w) N, +--([a-z0-9-]+) N", re.MULTILINE)
"""In its help, options of one letter; of two for one letter it takes the first."""


def headline(metric: str, unit: str, better: Better, command: Command) -> Headline | None:
    """The command's own number; None: its time is all there is.

    Raises:
        InputError: --metric is no regular expression with a group `value`.
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
    """Of the first stress-ng in a line that prints metrics, in the order in which it was asked."""
    for one in read_line(line).commands:
        words = one.started
        if not words or PurePosixPath(words[0]).name != STRESS:
            continue
        if any(word.startswith("--metrics") or word == "-M" for word in words):
            return [name for word in words[1:] if (name := _stressor(word))]
    return []


def _stressor(word: str) -> str | None:
    """The one that an option starts; None of any other word."""
    if short := re.match(r"-([A-Za-z])\d*$", word):
        letters = dict(reversed(SHORT.findall(_said("--help"))))
        name = letters.get(short[1], "")
    else:
        name = word[2:].partition("=")[0] if word.startswith("--") else ""
    return name if name in _said("--stressors").split() else None


@lru_cache(maxsize=2)
def _said(option: str) -> str:
    """What this machine's stress-ng says, which guests have; "" without one."""
    program = shutil.which(STRESS)
    if program is None:
        return ""
    words = [program, option]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIST_S)
    return done.stdout


def _own(metric: str, unit: str, better: Better) -> Headline:
    if "(?P<value>" not in metric:
        raise InputError(
            "--metric is a regular expression with a group `value`, but this has none.",
            remedy=r"Write for example: --metric 'rate=(?P<value>[\d.]+)'.",
        )
    try:
        re.compile(metric)
    except re.error as error:
        raise InputError(
            f"--metric is no regular expression: {error}.", remedy="Correct it."
        ) from None
    return Headline(unit or "value", unit or "1", metric, better)
