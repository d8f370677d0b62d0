# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a tree to an arm ahead of a change of it, so that the change finds little to compile."""

from __future__ import annotations

from threading import Event

from duet.kernels.boxed import BoxedArm, is_compiled
from duet.kernels.builder import LOCK, MARKER, go_to
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.lock import wanted_at
from duet.kernels.recipe import ArmSpec, arm_patches


def make_ready(arm: ArmSpec, settings: KernelSettings, stop: Event) -> bool:
    """Compile what a change of an arm would compile first. Blocking.

    It gives way: it is not begun while somebody builds, and ends when somebody wants to, from
    whatever process. What it has compiled by then is not lost.

    Args:
        arm: of the lesson, without a change.

    Returns:
        Whether anything was compiled. Not where no kernel has been compiled in the tree yet: that
        is for the builds of the lessons.

    Raises:
        BuildBusy: somebody builds.
        DuetError: as build().
    """
    base = settings.base_of(arm)
    tree = settings.tree(base, arm.config, settings.tarball(base).sha256)
    if base.source.kind == "image" or not is_compiled(tree):
        return False
    patches = arm_patches(arm, settings.patches, base)
    lock = settings.cache / LOCK
    began = wanted_at(lock)

    def look(line: object) -> None:
        if wanted_at(lock) != began:
            stop.set()

    ccache = settings.beside("ccache", base)
    near = BoxedArm(tree, patches, (), settings.jobs, ccache).near()
    if near and not (tree.folder / MARKER).exists():
        return False
    go_to(arm, settings, look, stop)
    return True
