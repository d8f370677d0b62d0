# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes by name, found by looking into lenses/probes: no list to keep.

A probe is a file there: `my_list.py` is `my-list`. It has a TITLE and a class
`Probe(kernel, memory, of)` with `sample() -> Reading`. To its facts come two of the sampler's:
quiet (1: no trace event was written during the reads) and cpu_us (their time on the host's CPU).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from duet.errors import InputError
from duet.lenses import probes
from duet.lenses.memory import Memory
from duet.lenses.reading import Reading

if TYPE_CHECKING:
    from duet.lenses.kernel import Kernel


class Probe(Protocol):
    """Reads one structure of a running kernel."""

    def sample(self) -> Reading:
        """What is there now.

        Raises:
            Gone: it cannot be read now.
            LensError: it cannot be read at all.
        """
        ...


@cache
def probe_names() -> tuple[str, ...]:
    """All probes, sorted. Imports none of them: they need drgn, and a server has no use for it."""
    return tuple(sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(probes.__path__)))


def load_probes() -> None:
    """Import all, for a process that cannot import any more once it has confined itself."""
    for name in probe_names():
        _module(name)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{probes.__name__}.{name.replace('-', '_')}")


def make_probe(name: str, kernel: Kernel, memory: Memory, of: str = "") -> Probe:
    """Resolve a probe's types and addresses in a kernel.

    Args:
        of: which of several it should look at; each probe says what that is.

    Raises:
        InputError: there is no such probe.
        LensError: the kernel has no such type, field or variable.
    """
    if name not in probe_names():
        raise InputError(
            f"there is no x-ray probe '{name:.40}'.",
            remedy=f"Choose from: {', '.join(probe_names())}.",
        )
    return cast(Probe, _module(name).Probe(kernel, memory, of))
