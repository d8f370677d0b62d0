# SPDX-License-Identifier: GPL-2.0-or-later
"""What a deep check finds and would rather not: Kernel Duet works, but less well."""

from __future__ import annotations


class Failure(Exception):
    """A warning.

    Args:
        found: with its figures and units.
        remedy: what to do about it.
    """

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(found)
        self.found, self.remedy = found, remedy
