# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetching the source of a base when one of its kernels is first built."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event

from duet.errors import InputError
from duet.kernels.bases import Base
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.progress import BuildProgress, Phase, ProgressSink
from duet.kernels.recipe import ArmSpec
from duet.kernels.source import NoSource
from duet.kernels.sources_apt import fetch

AGAIN_S = 30.0
"""After a fetch has failed, the next is tried no sooner: a server asks for each kernel."""

_failed: dict[str, tuple[float, NoSource]] = {}


def bring_sources(
    arms: Sequence[ArmSpec],
    settings: KernelSettings,
    stored: Callable[[ArmSpec], object],
    on_progress: ProgressSink,
    stop: Event,
) -> None:
    """Fetch the sources from which some of these arms are to be built and that are not there.

    Args:
        stored: whether an arm is built already; may raise NoSource.

    Raises:
        NoSource: one cannot be had.
        DiskFull, BuildStopped: see their classes.
    """
    began = time.monotonic()
    for arm, base in _missing(arms, settings, stored):

        def tell(note: str, arm: ArmSpec = arm) -> None:
            elapsed_s = time.monotonic() - began
            on_progress(
                BuildProgress(
                    Phase.EXTRACT, arm.lesson, arm.name, 0, len(arms), 0, 1, elapsed_s, note
                )
            )

        tried_s, error = _failed.get(base.package, (float("-inf"), None))
        if error is not None and time.monotonic() - tried_s < AGAIN_S:
            raise error
        try:
            fetch(base, settings.cache, tell, stop)
        except NoSource as trouble:
            _failed[base.package] = (time.monotonic(), trouble)
            raise


def _missing(
    arms: Sequence[ArmSpec], settings: KernelSettings, stored: Callable[[ArmSpec], object]
) -> list[tuple[ArmSpec, Base]]:
    """An arm of each base whose source is needed, is not there, and is in a package."""
    found: dict[str, tuple[ArmSpec, Base]] = {}
    for arm in arms:
        base = settings.base_of(arm)
        fetchable = base.source.package and settings.given(base) is None
        if fetchable and base.name not in found and _needs_source(arm, base, settings, stored):
            found[base.name] = (arm, base)
    return list(found.values())


def _needs_source(
    arm: ArmSpec, base: Base, settings: KernelSettings, stored: Callable[[ArmSpec], object]
) -> bool:
    """Neither the tarball nor what was made of it is there."""
    try:
        tarball = settings.tarball(base)
        if tarball.path.exists() or settings.tree(base, arm.config, tarball.sha256).src.is_dir():
            return False
        return not stored(arm)
    except NoSource:
        return True
    except InputError:
        return False  # the build itself says it
