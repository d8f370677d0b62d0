# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of a trial that were built elsewhere: a base of the trial's own, with links to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.errors import InputError
from duet.kernels.prebuilt import BUILT_AT, BZIMAGE, VMLINUX, Prebuilt, read_prebuilt
from duet.trials.spec import TrialArm, TrialBase, plain_name
from duet.trials.trees import path_name


def built_kernels(
    given: Sequence[Path], vmlinux: Sequence[Path], folder: Path
) -> list[tuple[TrialBase, TrialArm]]:
    """The arms of --kernel, each on a base of its own.

    Args:
        given: each a bzImage, or the folder of a build.
        vmlinux: in the same order; none: where a build leaves it.
        folder: for links to the files and for configs.

    Raises:
        InputError: a kernel cannot be used, or the two lists do not fit.
    """
    if vmlinux and len(vmlinux) != len(given):
        raise InputError(
            f"{len(given)} of --kernel came, but {len(vmlinux)} of --vmlinux.",
            remedy="Name one --vmlinux for each --kernel, in the same order, or none.",
        )
    found = []
    for number, path in enumerate(given):
        kernel = read_prebuilt(path, vmlinux[number] if vmlinux else None)
        base = _base(kernel, folder)
        name = plain_name(_title(kernel))
        about = f"Linux {kernel.version}, built elsewhere"
        found.append((base, TrialArm(name, _title(kernel), about, (), base.name)))
    return found


def _title(kernel: Prebuilt) -> str:
    """The folder of its build, or the name of its file."""
    if kernel.bzimage.match(str(BUILT_AT)):
        return kernel.bzimage.parents[3].name
    if kernel.bzimage.name == BZIMAGE:
        return kernel.bzimage.parent.name
    return kernel.bzimage.name


def _base(kernel: Prebuilt, folder: Path) -> TrialBase:
    name = path_name(kernel.bzimage.with_name(_title(kernel)))
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for link, file in ((BZIMAGE, kernel.bzimage), (VMLINUX, kernel.vmlinux)):
        (place / link).unlink(missing_ok=True)
        (place / link).symlink_to(file)
    config = place / "config"
    config.write_text(kernel.config, encoding="utf-8")
    series = ".".join(kernel.version.split(".")[:2])
    about = f"Linux {kernel.version}, built elsewhere"
    return TrialBase(name, about, series, {"image": str(place)}, (config,))
