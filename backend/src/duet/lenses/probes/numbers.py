# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of several global variables, for charts.

`of` is paths with commas, each as the probe `variable` takes it: `nr_files,rcu_state.gp_seq`.

No rows. Facts: the number of each path, under the path. A path that this kernel lacks, or that
crosses a NULL pointer, is left out. A kernel with none of the paths is an error.
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
    """Finds its variables once."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        paths = [path for path in of.split(",") if path]
        if not 0 < len(paths) <= MOST:
            raise InputError(
                f"the probe numbers needs 1 to {MOST} variables with commas, not {len(paths)}.",
                remedy="Give them with `of` (--of), e.g. nr_files,rcu_state.gp_seq.",
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
