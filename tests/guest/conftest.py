# SPDX-License-Identifier: GPL-2.0-or-later
"""Live guests for the guest tests."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import IO, Any

import pytest

from duet.guests import GuestOptions, GuestRoot, GuestSpec, ensure_root, open_guest
from duet.kernels import KernelImage, KernelSettings, lookup, plan
from duet.kernels.arms import arm_spec
from duet.lessons.load import load
from tests.support.guest_driver import Driver
from tests.support.shared_guests import Boot, SharedGuests

ImagesOf = Callable[[str], dict[str, KernelImage]]


TOGETHER = re.compile(
    r"test_(?:claims_live.*\[|lesson_)(?P<lesson>\d\d)"
    r"|(?P<module>test_(?:picture_\d\d|guest_boot|scratch|live_server))"
)
"""Tests that look at the same runs or take the same guest: of one lesson, of one module."""
LONGEST = (
    "04",
    "03",
    "test_reproduce",
    "02",
    "test_try",
    "test_measure_cli",
    "test_sixth",
    "test_replay_exact",
    "01",
    "05",
    "test_picture",
)
"""Begun first, one to four minutes each: one that began last would leave a CPU idle meanwhile."""


def scope_of(nodeid: str) -> str:
    """Tests of one scope go to one worker."""
    found = TOGETHER.search(nodeid)
    return found[found.lastgroup or 0] if found else nodeid


def turn(nodeid: str) -> int:
    """The place in LONGEST, or the one behind it."""
    scope = scope_of(nodeid).removeprefix("tests/guest/")
    places = (n for n, name in enumerate(LONGEST) if scope.startswith(name))
    return next(places, len(LONGEST))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first; of others and of one scope the order stays."""
    items.sort(key=lambda item: turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With -n: tests that share runs go to one worker, all others one by one to whoever is free.

    The marker xdist_group would say the same, but xdist 3.8 loses it under pytest 9.
    """
    from xdist.scheduler import LoadScopeScheduling

    class BySharedRuns(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    config.option.loadscopereorder = False  # in the order of the collection
    return BySharedRuns(config, log)


@pytest.fixture(autouse=True)
def runs_of_a_second_try(request: pytest.FixtureRequest) -> None:
    """A second try (RETRIES) looks at runs of its own, not at those that the first one shared."""
    if getattr(request.node, "execution_count", 1) > 1:
        for shared in vars(request.module).values():
            if hasattr(shared, "cache_clear"):
                shared.cache_clear()


@pytest.fixture(scope="session")
def guest_root() -> GuestRoot:
    """The sealed root, made if it is not there."""
    return asyncio.run(ensure_root())


@pytest.fixture(scope="session")
def images_of() -> ImagesOf:
    """images_of(slug): the stored kernels of a lesson; `duet build` makes them first.

    A kernel that is missing fails the test: one that was skipped would prove nothing. Arms that
    are optional are left out, since they are built where somebody asks for them.
    """
    settings = KernelSettings.default()

    @cache
    def images(slug: str) -> dict[str, KernelImage]:
        folder = load(slug)
        keys = {arm: plan(arm_spec(folder, arm), settings) for arm in folder.usual_arms}
        found = {arm: lookup(key, settings) for arm, key in keys.items()}
        absent = [arm for arm, image in found.items() if image is None]
        if absent:
            pytest.fail(f"not built: {', '.join(absent)}; run: ./duet build {slug}")
        return {arm: image for arm, image in found.items() if image is not None}

    return images


@pytest.fixture(scope="session")
def kernel_images(images_of: ImagesOf) -> dict[str, KernelImage]:
    """The stored kernels of lesson 02."""
    return images_of("02-grace-periods")


@pytest.fixture(scope="session")
def spec_of(kernel_images: Any, guest_root: GuestRoot) -> Callable[..., GuestSpec]:
    """A spec for an arm of lesson 02."""

    def make(arm: str = "srcu", **changes: Any) -> GuestSpec:
        known = {"arm": arm, "bzimage": kernel_images[arm].bzimage, "initrd": guest_root.image}
        return GuestSpec(**(known | changes))

    return make


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="module")
def shared(boot: Boot) -> Iterator[SharedGuests]:
    """`async with shared.boot(...) as driver`, within `shared.run(...)`."""
    guests = SharedGuests(boot)
    yield guests
    guests.close()


@contextmanager
def serving(
    templates_mib: str = "", log: IO[str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process; yields it and host:port.

    Args:
        templates_mib: $DUET_TEMPLATES_MIB: "0" where each lane must boot, or guests are counted.
        log: gets what the server logs.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"],
        stdout=subprocess.PIPE,
        stderr=log or subprocess.DEVNULL,
        text=True,
        env=os.environ | {"DUET_TEMPLATES_MIB": templates_mib},
    )
    assert process.stdout is not None
    try:
        told_at = json.loads(process.stdout.readline())
        yield process, f"{told_at['host']}:{told_at['port']}"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def server(kernel_images: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of one test, which may end it; and host:port."""
    with serving("0") as found:
        yield found


@pytest.fixture(scope="module")
def address(kernel_images: Any) -> Iterator[str]:
    """host:port of a server that the tests of a module use, each with runs of its own."""
    with serving() as (_, address):
        yield address
