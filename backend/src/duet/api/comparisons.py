# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of recordings over HTTP: made once for each pair of contents, then served again."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from duet.budgets import COMPARISONS_SAVED
from duet.errors import InputError
from duet.runs.compare import compare
from duet.serve.stamps import Stamp, stamp


class Comparisons:
    """Results by the checksums of both files. Blocking; several threads may use it."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._sums: OrderedDict[tuple[Path, Stamp], str] = OrderedDict()
        self._lock = Lock()
        self.count = 0
        """How many were really made."""

    def tree(self, first: Path, second: Path) -> bytes:
        """The comparison as JSON.

        Raises:
            DuetError: see comparing.compare.
        """
        key = self._sum(first), self._sum(second)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = json.dumps(compare(first, second).tree()).encode()
        with self._lock:
            self.count += 1
            self._made[key] = made
            while len(self._made) > COMPARISONS_SAVED:
                self._made.popitem(last=False)
        return made

    def _sum(self, path: Path) -> str:
        now = stamp(path)
        if now is None:
            raise InputError(
                f"the recording {path.name} is gone.", remedy="List the saved runs anew."
            )
        with self._lock:
            known = self._sums.get((path, now))
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest()
            with self._lock:
                self._sums[path, now] = known
                while len(self._sums) > 2 * COMPARISONS_SAVED:
                    self._sums.popitem(last=False)
        return known
