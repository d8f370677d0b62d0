# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn the command line of `duet try` into a Trial: its kernels and its command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.trials.command import read_command
from duet.trials.kernels import KernelArguments, trial_kernels
from duet.trials.mails import read_patches, series_name
from duet.trials.spec import TIMEOUT_S, Better, Trial, plain_name
from duet.trials.tracing import at_commas, read_paths, read_trace
from duet.trials.trees import commits
from duet.trials.write import headline, stressors

MOST_ARMS = 9


@dataclass(frozen=True, slots=True)
class Asked:
    """Arguments of `duet try`, unchecked.

    Args:
        given: the command line as typed; "" if there is none.
    """

    run: str
    patches: tuple[Path, ...] = ()
    commits: tuple[str, ...] = ()
    repository: Path = Path()
    base: str = ""
    trees: tuple[Path, ...] = ()
    kernels: tuple[Path, ...] = ()
    vmlinux: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    config: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    xray: tuple[str, ...] = ()
    comm: str = ""
    clock: Clock = "wall"
    times: int = 1
    timeout: int = TIMEOUT_S
    vcpus: int = 2
    memory_mb: int = 1024
    name: str = ""
    metric: str = ""
    unit: str = ""
    better: Better = "higher"
    given: str = ""


def read_trial(asked: Asked, folder: Path, patches_dir: Path, known: frozenset[str]) -> Trial:
    """Check all arguments, as far as possible without a built kernel, and return the trial.

    Args:
        folder: folder of all trials.
        patches_dir: kernel-patches of the checkout.
        known: names of the programs that guests have.

    Raises:
        InputError: an argument is invalid. The error says what was expected, and what was given.
    """
    command = read_command(asked.run, known)
    said: list[str] = []
    series = [(series_name(path), read_patches(path, said.append)) for path in asked.patches]
    series += [(span, commits(asked.repository, span, said.append)) for span in asked.commits]
    name = plain_name(asked.name or (series[0][0] if series else _tree_name(asked)))
    if not asked.metric and len(several := stressors(command.line)) > 1:
        said.append(
            f"the headline is the rate of {several[0]}, the first of {len(several)} stressors;"
            " choose another with --metric"
        )
    named = KernelArguments(
        asked.base, asked.trees, asked.kernels, asked.vmlinux, asked.shared, asked.config
    )
    bases, arms = trial_kernels(named, series, folder, patches_dir, said.append)
    if len(arms) < 2:
        raise InputError(
            "a trial needs two kernels, but only one was named.",
            remedy="Name a patch, a range with --commits, a second --tree, or a second --kernel.",
        )
    if len(arms) > MOST_ARMS:
        raise InputError(
            f"a trial has at most {MOST_ARMS} kernels, but {len(arms)} were named.",
            remedy="Split the kernels into several trials.",
        )
    return Trial(
        name=name,
        arms=tuple(arms),
        command=command,
        clock=asked.clock,
        times=asked.times,
        timeout=asked.timeout,
        vcpus=asked.vcpus,
        memory_mb=asked.memory_mb,
        functions=asked.functions,
        trace=read_trace(asked.trace),
        watch=tuple(part for text in asked.watch for part in at_commas(text)),
        xray=read_paths(asked.xray),
        comm=asked.comm,
        headline=headline(asked.metric, asked.unit, asked.better, command),
        bases=tuple(bases),
        given=asked.given,
        said=tuple(said),
    )


def _tree_name(asked: Asked) -> str:
    paths = (asked.trees or asked.kernels)[:2]
    return "-".join(path.expanduser().resolve().name for path in paths) or "trial"


# Command lines of a trial: `duet try` repeats the trial, `duet check` tests its kernels for bugs.


OPTIONS = {
    "repository": "--repo",
    "trees": "--tree",
    "kernels": "--kernel",
    "shared": "--with",
    "functions": "--fn",
}
"""Fields of Asked whose options have other names."""
KERNELS = ("commits", "repository", "base", "trees", "kernels", "vmlinux", "shared", "config")
"""Fields that name the kernels; they come first in a command line."""
ARGUMENTS = "patches"
"""Field of the positional arguments."""
NOT_SAID = ("given",)


def try_line(asked: Asked) -> str:
    """Return the `duet try` command line that repeats a trial, without default options."""
    others = [one.name for one in fields(Asked) if one.name not in (*KERNELS, *NOT_SAID)]
    return _line("try", asked, (*KERNELS, *others))


def without_folders(line: str, asked: Asked) -> str:
    """Return a command line that finds the arguments' files in the current folder.

    Readers of a report have a mail and a tarball, but not the folders of its author.
    """
    files = (*asked.patches, *asked.trees, *asked.kernels, *asked.vmlinux, *asked.shared)
    named = {str(path) for path in (*files, asked.repository, asked.base, *asked.config)}

    def short(word: str) -> str:
        if word == asked.run and Path(word).expanduser().exists():
            return f"./{Path(word).name}"
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        name = Path(value).name
        return f"{option}{equals}{name}" if value in named and name not in ("", "..") else word

    return shlex.join(short(word) for word in shlex.split(line))


def check_line(asked: Asked) -> str:
    """Return the `duet check` command line for the same patches, trees and base.

    Return "" if a kernel is prebuilt, because a debug kernel needs source code.
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
