# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of bases, fetched before a command asks which kernels are there."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from duet.cli.output import note
from duet.kernels import ArmSpec, KernelImage, KernelSettings, lookup, plan
from duet.kernels.source_fetch import bring_sources


def install_sources(specs: Sequence[ArmSpec], settings: KernelSettings) -> None:
    """Fetch what is missing and needed.

    Raises:
        NoSource: one cannot be had.
    """

    def stored(spec: ArmSpec) -> KernelImage | None:
        return lookup(plan(spec, settings), settings)

    bring_sources(specs, settings, stored, lambda progress: note(progress.note), Event())
