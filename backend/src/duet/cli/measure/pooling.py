# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of `duet measure` for pools. A plug-in does the measuring."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from duet.base import plugins
from duet.base.errors import InputError


@dataclass(frozen=True, slots=True)
class Pooling:
    """The options for pools, as typed.

    Args:
        pool: the pool's name; "" measures on this host.
        at_once, wait, lease: see `duet measure --help`; "" is the default.
        check_hosts: compare two hosts.
    """

    pool: str = ""
    at_once: str = ""
    wait: str = ""
    lease: str = ""
    check_hosts: bool = False

    def plugin(self) -> ModuleType | None:
        """Return the module that measures on the pool, or None if no pool is named.

        The module has the functions `check`, `measure_on_pool` and `check_hosts`.

        Raises:
            InputError: options for pools were given without --pool, a value is out of range, or
                there is no plug-in.
        """
        if not self.pool:
            if self.at_once or self.wait or self.lease or self.check_hosts:
                raise InputError(
                    "--at-once, --wait, --lease and --check-hosts need --pool.",
                    remedy="Add --pool with local, slurm or kubernetes.",
                )
            return None
        found = next(iter(plugins.offered("pool")), None)
        if found is None:
            raise InputError("the plug-in for pools is not installed.", remedy="Leave --pool out.")
        found.check(self)
        return found
