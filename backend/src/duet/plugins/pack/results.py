# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of what `duet pack` prints with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.keys import key


@dataclass(frozen=True, slots=True)
class PackResult:
    file: str = key("the archive, or the folder")
    bytes: int = key()
    pack: str = key("SHA-256 of its record, which a result names")
    jobs: int = key("measurements")
    runs: int = key("of guests, in all jobs")
    replicas: Sequence[str] = key("lessons whose native replica it has")
    kernels: Mapping[str, str] = key("SHA-256 of each bzImage", "{lesson arm: sha256}")
    left_out: Sequence[str] = key("what a host cannot measure with it, and why")
