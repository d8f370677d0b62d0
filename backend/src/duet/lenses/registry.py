# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the files of x-ray probes, so there is no list to maintain. Imports none of them.

A probe is a file: `my_list.py` is the probe `my-list`. Files whose names begin with an underscore
are helpers. Probes in lenses/probes serve any lesson. Probes in lessons/NN-slug/probes read that
lesson's structures. A lesson finds its own probes first, then the generic probes, then other
lessons' probes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from duet.base.errors import InputError
from duet.lenses.records import Reading
from duet.lessons.load import places

if TYPE_CHECKING:
    from duet.lenses.kernel import Kernel
    from duet.lenses.memory import Memory

GENERIC = Path(__file__).parent / "probes"
FOLDER = "probes"
"""Name of the folder with probes in a lesson's folder."""


class Probe(Protocol):
    """Reads one structure of a running kernel."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        """Resolve types and addresses.

        Args:
            of: the object to read; each probe documents its syntax.

        Raises:
            InputError: `of` is invalid.
            LensError: the kernel has no such type, field or variable.
        """
        ...

    def sample(self) -> Reading:
        """Read the structure now.

        Raises:
            Gone: the structure cannot be read now.
            LensError: the structure cannot be read at all.
        """
        ...


def probe_folders(lesson: str = "", *, others: bool = True) -> Iterator[Path]:
    """Yield the folders with probes for a lesson, in order of precedence. "" means no lesson.

    Args:
        others: also yield the folders of other lessons.
    """
    lessons = places()
    own = lessons.pop(lesson, None)
    if own is not None:
        yield own.folder / FOLDER
    yield GENERIC
    if others:
        yield from (place.folder / FOLDER for place in lessons.values())


def probe_files(lesson: str = "", *, others: bool = True) -> dict[str, Path]:
    """Return name -> file for each probe that a lesson can name."""
    found: dict[str, Path] = {}
    for folder in probe_folders(lesson, others=others):
        for path in sorted(folder.glob("*.py")):
            if not path.name.startswith("_"):
                found.setdefault(path.stem.replace("_", "-"), path)
    return found


def probe_names(lesson: str = "", *, others: bool = True) -> tuple[str, ...]:
    """Return the names of the probes that a lesson can name, sorted."""
    return tuple(sorted(probe_files(lesson, others=others)))


def no_probe(name: str, known: tuple[str, ...]) -> InputError:
    """Return the error for a probe that does not exist."""
    return InputError(
        f"there is no x-ray probe '{name:.40}'.", remedy=f"Choose from: {', '.join(known)}."
    )
