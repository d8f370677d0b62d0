# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of `duet measure` about pools; a plug-in does what they ask."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from duet.base import plugins
from duet.base.errors import InputError


@dataclass(frozen=True, slots=True)
class Pooling:
    """The options about pools, as they stand on the command line.

    Args:
        pool: name; "": measure here.
        at_once, wait, lease: see `duet measure --help`; "": the usual.
        check_hosts: compare two hosts.
    """

    pool: str = ""
    at_once: str = ""
    wait: str = ""
    lease: str = ""
    check_hosts: bool = False

    def plugin(self) -> ModuleType | None:
        """What measures on the pool: `check`, `measure_on_pool` and `check_hosts`; None: no pool.

        Raises:
            InputError: options of a pool without one, a value out of range, or no plug-in.
        """
        if not self.pool:
            if self.at_once or self.wait or self.lease or self.check_hosts:
                raise InputError(
                    "--at-once, --wait, --lease and --check-hosts are of a pool, but no --pool was"
                    " given.",
                    remedy="Add --pool with local, slurm or kubernetes.",
                )
            return None
        found = next(iter(plugins.offered("pool")), None)
        if found is None:
            raise InputError(
                "this Kernel Duet has no plug-in for pools.", remedy="Leave --pool out."
            )
        found.check(self)
        return found
