# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines of a trial: what makes it again, and what looks for mistakes of its kernels."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import fields

from duet.trials.ask import Asked

OPTIONS = {
    "repository": "--repo",
    "trees": "--tree",
    "kernels": "--kernel",
    "shared": "--with",
    "functions": "--fn",
}
"""Of fields of Asked whose options have other names."""
KERNELS = ("commits", "repository", "base", "trees", "kernels", "vmlinux", "shared", "config")
"""Fields that say which kernels; they stand first."""
ARGUMENTS = "patches"
"""The field that has no option."""
NOT_SAID = ("given",)


def try_line(asked: Asked) -> str:
    """The call of `duet try` that makes a trial again, without options that are as usual."""
    others = [one.name for one in fields(Asked) if one.name not in (*KERNELS, *NOT_SAID)]
    return _line("try", asked, (*KERNELS, *others))


def check_line(asked: Asked) -> str:
    """The call of `duet check` for the same patches, trees and base.

    "" where a kernel was built elsewhere: a debug kernel needs its source.
    """
    return "" if asked.kernels else _line("check", asked, (*KERNELS, "run", "name"))


def _line(verb: str, asked: Asked, names: Iterable[str]) -> str:
    words = ["./duet", verb, *map(str, asked.patches)]
    usual = {one.name: one.default for one in fields(Asked)}
    for name in names:
        value = getattr(asked, name)
        if name == ARGUMENTS or value == usual[name]:
            continue
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        for part in value if isinstance(value, tuple) else (value,):
            words += [option, str(part)]
    return shlex.join(words)
