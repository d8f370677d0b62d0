# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of kernel builds: the cache, kernel-patches/, the base and its tree."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from duet.base import settings as house
from duet.kernels.bases import Base, find_base
from duet.kernels.image import Store
from duet.kernels.recipe import ArmSpec
from duet.kernels.source import IMAGE_BYTES, TREE_BYTES, Tarball, fetched_tarball, find_tarball
from duet.kernels.tree import WorkTree


@dataclass(frozen=True, slots=True)
class KernelSettings:
    """Settings of kernel builds.

    `source` (--source) replaces the source of the default base. `lock_wait_s` is the timeout of
    waiting for another build. `tree_bytes` and `image_bytes` are the free disk space that a tree
    and an image require.

    `debug` adds stress.config and debug.config. The resulting kernels check themselves for bugs.
    They have separate keys and a separate tree, so that the objects of ordinary kernels stay
    compiled. If `races` is also set, kcsan.config replaces debug.config, and another tree is used.
    `more` contains paths of files with KUnit options; options that the source lacks are left out.
    KUnit adds a field to task_struct, so kernels with KUnit have another separate tree.

    `base_name` is the name or path of the base for arms that name no base; None means the base with
    `default: true`.
    """

    cache: Path
    patches: Path
    source: Path | None = None
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    lock_wait_s: float = 3600.0
    tree_bytes: int = TREE_BYTES
    image_bytes: int = IMAGE_BYTES
    debug: bool = False
    races: bool = False
    more: tuple[Path, ...] = ()
    base_name: str | None = None

    @classmethod
    def default(
        cls, source: Path | None = None, *, debug: bool = False, base: str | None = None
    ) -> KernelSettings:
        """Return settings with this machine's cache and the checkout's kernel-patches/.

        `base`, or else $DUET_BASE, is the default base. If neither is given, $DUET_SOURCE
        replaces the default base's source.
        """
        patches = house.repo_root() / "kernel-patches"
        name = base or house.default_base()
        if source is None and name is None:
            source = house.default_source()
        return cls(house.cache_dir(), patches, source, debug=debug, base_name=name)

    @property
    def store(self) -> Store:
        return Store(self.cache / "kernels")

    @property
    def base(self) -> Base:
        """The base of arms that name no base."""
        return find_base(self.base_name, self.patches)

    def base_of(self, arm: ArmSpec) -> Base:
        """Return the base of an arm.

        Raises:
            InputError: there is no such base, or its file is invalid.
        """
        return self.base if arm.base is None else find_base(arm.base, self.patches)

    @property
    def extra(self) -> tuple[Path, ...]:
        """Config files that override the config of every base."""
        if not self.debug:
            return self.more
        own = "kcsan.config" if self.races else "debug.config"
        return (self.patches / "stress.config", self.patches / own, *self.more)

    @property
    def variant(self) -> str:
        """Suffix for the names of trees and object counts; "" for ordinary kernels."""
        if not self.debug:
            return ""
        if self.races:
            return "-kcsan"
        return "-debug-kunit" if self.more else "-debug"

    def fragments(self, arm: ArmSpec) -> tuple[Path, ...]:
        """Return the arm's config files in order. Later files override earlier files."""
        return (*self.base_of(arm).config(arm.config), *self.extra)

    def tarball(self, base: Base) -> Tarball:
        """Return the source of a base; --source applies to the default base.

        Raises:
            NoSource, BadFolder: see duet.kernels.source.
        """
        return find_tarball(base, self.given(base), self.cache)

    def source_places(self, base: Base) -> tuple[Path, ...]:
        """Return possible paths of a base's source."""
        given = self.given(base)
        return (given,) if given else (base.tarball, fetched_tarball(base, self.cache))

    def given(self, base: Base) -> Path | None:
        """Return the source that --source or DUET_SOURCE sets for a base, or None."""
        return self.source if base.name == self.base.name else None

    def tree(self, base: Base, config: str | None, tarball_sha256: str) -> WorkTree:
        """Return the work tree for this source and configuration."""
        name = f"{base.package}-{tarball_sha256[:12]}"
        name += f"-{config}" if config else ""
        return WorkTree(self.cache / "tree" / f"{name}{self.variant}")

    def source_tree(self, arm: ArmSpec) -> Path:
        """Return the arm's source folder, which may be missing or contain another arm's source."""
        base = self.base_of(arm)
        if base.source.kind == "image":
            return base.folder
        return self.tree(base, arm.config, self.tarball(base).sha256).src

    def beside(self, name: str, base: Base) -> Path:
        """Return a path in the cache: <name> for the default base, otherwise <name>-BASE."""
        own = base.folder == find_base(None, self.patches).folder
        return self.cache / (name if own else f"{name}-{base.name}")
