# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of an arm's objects once they are compiled: its kernel, or other links of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from duet.kernels.compiler import BZIMAGE, Make
from duet.kernels.image import KernelImage, Manifest
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.prebuilt import store_prebuilt
from duet.kernels.recipe import ArmSpec, BuildInputs, KernelKey
from duet.kernels.source import check_space


@dataclass(frozen=True, slots=True)
class Made:
    """A tree in which an arm's kernel was just linked, and how to run make in it.

    Args:
        marker: exists while files of the tree may be half-written; the next build then sweeps.
    """

    src: Path
    make: Make
    marker: Path
    stop: Event

    def files(self) -> dict[str, Path]:
        """Name in the store -> file of the tree."""
        return {
            "bzImage": self.src / BZIMAGE,
            "vmlinux": self.src / "vmlinux",
            "System.map": self.src / "System.map",
            "config": self.src / ".config",
        }


class Product:
    """The kernel itself; `duet.kernels.relink` has other links of the same objects."""

    def there(self, key: KernelKey, settings: KernelSettings) -> KernelImage | None:
        """The stored kernel, if nothing is left to be made."""
        return settings.store.lookup(key)

    def take(self, arm: ArmSpec, need: BuildInputs, settings: KernelSettings) -> KernelImage:
        """Put a kernel that was built elsewhere into the store.

        Raises:
            DuetError: see store_prebuilt.
        """
        return store_prebuilt(arm, need, settings)

    def store(
        self, made: Made, manifest: Manifest, settings: KernelSettings, tell: Callable[[str], None]
    ) -> KernelImage:
        """Put what is made into the store; called under the lock of the tree.

        Args:
            tell: takes a sentence on what is being done, where that takes long.

        Raises:
            DuetError: see Store.publish and Make.run.
        """
        return self.store_files(made.files(), manifest, settings)

    def store_files(
        self, files: Mapping[str, Path], manifest: Manifest, settings: KernelSettings
    ) -> KernelImage:
        """Put files that a box gave into the store, by their names there. Raises as store()."""
        check_space(settings.cache, settings.image_bytes, "to store a kernel")
        return settings.store.publish(files, manifest)
