# SPDX-License-Identifier: GPL-2.0-or-later
"""Live guests for the guest tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from guest_driver import Driver

from duet.guests import GuestOptions, GuestRoot, GuestSpec, ensure_root, open_guest
from duet.kernels import ArmSpec, KernelImage, KernelSettings, lookup, plan
from duet.lessons.load import load

Boot = Callable[..., AbstractAsyncContextManager[Driver]]


@pytest.fixture(scope="session")
def guest_root() -> GuestRoot:
    """The sealed root, made if it is not there."""
    return asyncio.run(ensure_root())


@pytest.fixture(scope="session")
def kernel_images() -> dict[str, KernelImage]:
    """The stored kernels of lesson 02; they are built first, by `./duet build`."""
    settings = KernelSettings.default()
    folder = load("02-grace-periods")
    found = {}
    for arm in folder.lesson.arms:
        wanted = ArmSpec(folder.slug, arm.name, tuple(Path(name) for name in arm.patches))
        image = lookup(plan(wanted, settings), settings)
        if image is None:
            pytest.fail(f"the kernel {arm.name} is not built; run: ./duet build {folder.slug}")
        found[arm.name] = image
    return found


@pytest.fixture
def spec_of(kernel_images: Any, guest_root: GuestRoot) -> Callable[..., GuestSpec]:
    """A spec for an arm of lesson 02."""

    def make(arm: str = "srcu", **changes: Any) -> GuestSpec:
        known = {"arm": arm, "bzimage": kernel_images[arm].bzimage, "initrd": guest_root.image}
        return GuestSpec(**(known | changes))

    return make


@pytest.fixture
def boot(spec_of: Callable[..., GuestSpec], guest_root: GuestRoot) -> Boot:
    """`async with boot(arm, kind=..., policy=..., **spec) as driver`."""

    @asynccontextmanager
    async def enter(
        arm: str = "srcu", kind: str = "qemu", policy: str = "tcg", **changes: Any
    ) -> AsyncIterator[Driver]:
        options = GuestOptions(policy=policy, programs=guest_root.programs)
        async with open_guest(kind, spec_of(arm, **changes), options) as guest:
            yield Driver(guest)

    return enter
