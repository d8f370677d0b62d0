# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests whether KVM works here. Only a guest that booted under KVM proves that KVM works."""

from __future__ import annotations

import asyncio

from duet.base.errors import DuetError
from duet.guests import Accel, GuestOptions, GuestSpec, ensure_root, open_guest
from duet.guests.boot import kvm_refusal
from duet.kernels import KernelImage, KernelSettings, lookup, plan
from duet.kernels.arms import arm_specs
from duet.lessons import load as lessons


def kvm_works() -> tuple[bool, str]:
    """Return whether a guest boots under KVM, and if not, why. duet.guests caches the answer."""
    if why := kvm_refusal():
        return False, f"{why} Guests are emulated."
    image = _any_image()
    if image is None:
        return False, "not probed yet, because no kernel is built"
    try:
        works = asyncio.run(_boots(image))
    except DuetError as error:
        return False, f"the probe guest did not boot: {error.sentence}"
    return (
        works,
        "" if works else "/dev/kvm opens, but no guest boots under it: guests are emulated",
    )


def _any_image() -> KernelImage | None:
    settings = KernelSettings.default()
    for slug in lessons.slugs():
        for spec in arm_specs(lessons.load(slug)).values():
            try:
                image = lookup(plan(spec, settings), settings)
            except DuetError:
                continue
            if image is not None:
                return image
    return None


async def _boots(image: KernelImage) -> bool:
    root = await ensure_root()
    spec = GuestSpec("probe", image.bzimage, root.image, vcpus=1, memory_mib=256)
    async with open_guest("qemu", spec, GuestOptions(policy="auto")) as guest:
        return guest.facts.accel is Accel.KVM
