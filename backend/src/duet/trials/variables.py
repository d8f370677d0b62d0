# SPDX-License-Identifier: GPL-2.0-or-later
"""Global variables that the x-ray reads in a trial: those of --xray, or of the patches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from duet.errors import InputError
from duet.kernels import KernelImage, dwarf
from duet.kernels.paths import split_path
from duet.trials.mails import Patch
from duet.trials.tracing import Variable

MOST_NAMED = 8
MOST_CHOSEN = 4
MOST_WORDS = 400
"""Of the changed lines, that are looked up."""
WORD = re.compile(r"\b[A-Za-z_]\w{2,}\b", re.ASCII)


def read_paths(given: Sequence[str]) -> tuple[str, ...]:
    """The paths of --xray, each once.

    Raises:
        InputError: one is no path, or there are too many.
    """
    paths = list(dict.fromkeys(part.strip() for text in given for part in text.split(",")))
    paths = [path for path in paths if path]
    for path in paths:
        if split_path(path) is None:
            raise InputError(
                f"--xray wants global variables, but '{path:.60}' came.",
                remedy="Write names and paths as in C: --xray nr_files,rcu_state.gp_seq.",
            )
    if len(paths) > MOST_NAMED:
        raise InputError(
            f"--xray names {len(paths)} variables, and {MOST_NAMED} can be read.",
            remedy="Name fewer.",
        )
    return tuple(paths)


def choose_variables(
    images: Mapping[str, KernelImage],
    named: Sequence[str],
    patches: Sequence[Patch],
    missing: list[str],
) -> tuple[Variable, ...]:
    """What the x-ray reads.

    Args:
        images: arm -> its built kernel.
        named: of --xray; empty: numbers that changed lines of the patches name.
        missing: gets a sentence for each of `named` that no kernel has as a number.
    """
    paths = list(named) if named else _words(patches)
    known = {arm: dwarf.number_paths(image.vmlinux, paths) for arm, image in images.items()}
    found = []
    for path in paths:
        arms = tuple(arm for arm, those in known.items() if path in those)
        if arms:
            found.append(Variable(path, () if len(arms) == len(images) else arms))
        elif named:
            missing.append(f"{path} is not read: no kernel has a global number of that name")
    return tuple(found if named else found[:MOST_CHOSEN])


def _words(patches: Sequence[Patch]) -> list[str]:
    """Words of changed lines, in order."""
    lines = [line for patch in patches for line in patch.diff.splitlines()]
    changed = [line[1:] for line in lines if re.match(r"[+-](?![+-]{2} )", line)]
    words = dict.fromkeys(word for line in changed for word in WORD.findall(line))
    return list(words)[:MOST_WORDS]
