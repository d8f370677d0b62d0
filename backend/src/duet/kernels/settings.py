# SPDX-License-Identifier: GPL-2.0-or-later
"""Where kernels come from and go to: the cache, kernel-patches/, the base, its tree."""

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
    """Where kernels come from and go to.

    `source` is built from in place of the default base's own (--source); `lock_wait_s` bounds
    the wait for another builder; the two sizes are the free space asked for before a tree and
    before an image. `debug` adds stress.config and debug.config: kernels that look for their own
    mistakes, under keys of their own and from a tree of their own, so that the lean tree stays
    warm; with `races` it is kcsan.config and one more tree. `more` are files of KUnit's options;
    one that the source lacks is left out, and since KUnit itself is in task_struct they are one
    more tree beside that of debug.config. `base_name` is the base of arms that name none: a name
    or a path; None: the one that says it is default.
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
        """The house's own cache and kernel-patches/; `base` or $DUET_BASE is the default base.

        $DUET_SOURCE is the source of the base that is default without these.
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
        """The base of arms that name none."""
        return find_base(self.base_name, self.patches)

    def base_of(self, arm: ArmSpec) -> Base:
        """The base of an arm.

        Raises:
            InputError: there is none of that name, or its file cannot be used.
        """
        return self.base if arm.base is None else find_base(arm.base, self.patches)

    @property
    def extra(self) -> tuple[Path, ...]:
        """Configuration that overrides that of any base."""
        if not self.debug:
            return self.more
        own = "kcsan.config" if self.races else "debug.config"
        return (self.patches / "stress.config", self.patches / own, *self.more)

    @property
    def variant(self) -> str:
        """What is appended to the names of trees and counts that are not the lean kernel's."""
        if not self.debug:
            return ""
        if self.races:
            return "-kcsan"
        return "-debug-kunit" if self.more else "-debug"

    def fragments(self, arm: ArmSpec) -> tuple[Path, ...]:
        """The configuration of an arm, in order; a later file overrides an earlier."""
        return (*self.base_of(arm).config(arm.config), *self.extra)

    def tarball(self, base: Base) -> Tarball:
        """The source of a base; --source counts for the default one.

        Raises:
            NoSource, BadFolder: see duet.kernels.source.
        """
        return find_tarball(base, self.given(base), self.cache)

    def source_places(self, base: Base) -> tuple[Path, ...]:
        """Where the source of a base may lie."""
        given = self.given(base)
        return (given,) if given else (base.tarball, fetched_tarball(base, self.cache))

    def given(self, base: Base) -> Path | None:
        """The source that somebody named for a base."""
        return self.source if base.name == self.base.name else None

    def tree(self, base: Base, config: str | None, tarball_sha256: str) -> WorkTree:
        """Where kernels from this source are compiled: one tree a configuration, each warm."""
        name = f"{base.package}-{tarball_sha256[:12]}"
        name += f"-{config}" if config else ""
        return WorkTree(self.cache / "tree" / f"{name}{self.variant}")

    def source_tree(self, arm: ArmSpec) -> Path:
        """The source of an arm's kernel, where its tree is there; it may stand at another arm."""
        base = self.base_of(arm)
        if base.source.kind == "image":
            return base.folder
        return self.tree(base, arm.config, self.tarball(base).sha256).src

    def beside(self, name: str, base: Base) -> Path:
        """A file or folder of the cache that each base has for itself: <name> or <name>-BASE."""
        own = base.folder == find_base(None, self.patches).folder
        return self.cache / (name if own else f"{name}-{base.name}")
