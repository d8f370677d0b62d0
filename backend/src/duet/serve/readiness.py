# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kernels of a lesson are built, looked up again only when a file that decides it changed.

Each `open` and each greeting asks. Without this, every one of them would hash all patches and
read all manifests of the store on the event loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from duet.errors import DuetError
from duet.kernels import ArmSpec, KernelKey, KernelSettings, lookup, plan
from duet.kernels.bases import FILE, base_folders
from duet.kernels.image import FILES, SIZES
from duet.kernels.recipe import arm_patches, both_folders
from duet.kernels.source import NoSource
from duet.serve.stamps import Stamps


@dataclass(frozen=True, slots=True)
class Known:
    """What was found, and the files that it follows from."""

    specs: tuple[ArmSpec, ...]
    recipe: Stamps
    store: Stamps
    ready: dict[str, bool]

    def holds(self, specs: tuple[ArmSpec, ...]) -> bool:
        """Whether it would be found again."""
        return self.specs == specs and self.recipe.same and self.store.same


class Readiness:
    """Of all lessons of one store."""

    def __init__(self, settings: KernelSettings) -> None:
        self._settings = settings
        self._known: dict[str, Known] = {}

    def of(self, lesson: str, specs: dict[str, ArmSpec]) -> dict[str, bool]:
        """arm -> its kernel is built; all False where not even a compiler is there."""
        arms = tuple(specs.values())
        known = self._known.get(lesson)
        if known is not None and known.holds(arms):
            return dict(known.ready)
        recipe = Stamps.of(self._recipe(arms))
        keys: dict[str, KernelKey] = {}
        settled = True
        for name, spec in specs.items():
            try:
                keys[name] = plan(spec, self._settings)
            except NoSource:
                pass  # the stamps show when the source of an optional base is installed
            except DuetError:
                settled = False  # a compiler may be installed meanwhile, which no file here shows
        store = Stamps.of(part for key in keys.values() for part in self._image(key))
        ready = {
            name: name in keys and lookup(keys[name], self._settings) is not None for name in specs
        }
        if settled:
            self._known[lesson] = Known(arms, recipe, store, ready)
        else:
            self._known.pop(lesson, None)
        return dict(ready)

    def _recipe(self, arms: tuple[ArmSpec, ...]) -> Iterator[Path]:
        """What decides the keys."""
        settings = self._settings
        for folder in base_folders(settings.patches).values():
            yield folder / FILE
        for arm in arms:
            with contextlib.suppress(DuetError):
                base = settings.base_of(arm)
                yield from settings.source_places(base)
                yield from settings.fragments(arm)
                yield from both_folders(arm, settings.patches, base)
                yield from arm_patches(arm, settings.patches, base)

    def _image(self, key: KernelKey) -> Iterator[Path]:
        """What decides whether the store has a kernel."""
        folder = self._settings.store.folder / key
        yield folder
        for part in ("manifest.json", SIZES, *FILES):
            yield folder / part
