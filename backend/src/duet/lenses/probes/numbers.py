# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the numbers in several global variables, for charts.

`of` is a comma-separated list of paths as in the probe `variable`: `nr_files,rcu_state.gp_seq`.

There are no rows. Facts: the number at each path, named after the path. A path that this kernel
lacks, or that crosses a NULL pointer, is left out. It is an error if the kernel has none of the
paths.
"""

from __future__ import annotations

from duet.base.errors import InputError
from duet.lenses.kernel import Kernel, LensError
from duet.lenses.memory import Memory
from duet.lenses.probes.variable import Probe as Variable
from duet.lenses.records import Reading

TITLE = "numbers of global variables"
MOST = 16


class Probe:
    """Finds the variables in `of` once."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        paths = [path for path in of.split(",") if path]
        if not 0 < len(paths) <= MOST:
            raise InputError(
                f"the probe `numbers` needs 1 to {MOST} variables separated by commas, not "
                f"{len(paths)}.",
                remedy="Give the variables with `of` (--of), e.g. nr_files,rcu_state.gp_seq.",
            )
        self._variables: dict[str, Variable] = {}
        missing: LensError | None = None
        for path in paths:
            try:
                self._variables[path] = Variable(kernel, memory, path)
            except LensError as error:
                missing = error
        if not self._variables and missing is not None:
            raise missing

    def sample(self) -> Reading:
        facts = {}
        for path, variable in self._variables.items():
            number = variable.sample().facts.get("value")
            if number is not None:
                facts[path] = number
        return Reading(n=0, columns={}, facts=facts)
