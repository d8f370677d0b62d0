# SPDX-License-Identifier: GPL-2.0-or-later
"""Find or build the kernels of arms. Kernels are built one after another in a shared tree.

build() blocks. A server must call build() in a thread that outlives the build, because make is
killed when the thread that started make ends. Setting the event `stop` cancels the build.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from threading import Event

from duet.base import files as durable
from duet.base.errors import InputError
from duet.kernels.bases import Base
from duet.kernels.box_build import (
    BoxedArm,
    Made,
    Product,
    beneath,
    build_in_box,
    in_box,
    is_compiled,
)
from duet.kernels.compiler import (
    BuildProgress,
    Make,
    MakeCounter,
    Phase,
    ProgressSink,
    check_tools,
    configure,
    forecast,
    read_pace,
    sweep_half_written,
    tool_versions,
    write_pace,
)
from duet.kernels.image import KernelImage, Manifest, manifest_of
from duet.kernels.order import outwards
from duet.kernels.prebuilt import prebuilt_inputs
from duet.kernels.recipe import (
    ArmSpec,
    BuildInputs,
    KernelKey,
    arm_patches,
    build_inputs,
    read_fragments,
)
from duet.kernels.settings import KernelSettings
from duet.kernels.source import Tarball, check_series, check_space, kernel_version, unpack
from duet.kernels.source_fetch import bring_sources
from duet.kernels.stale import are_fresh, fingerprint, search_limit, stale_objects, touch_archive
from duet.kernels.tree import (
    TreeState,
    WorkTree,
    build_lock,
    read_fingerprint,
    read_tree_state,
    wanted_at,
    write_tree_state,
)

# Number of objects in a cold build; used until this machine has counted them.
OBJECTS_GUESS = 1365
LOCK = "build.lock"
"""Lock file in the cache folder."""
MARKER = "building"
"""File beside the source; exists while the tree may have half-written files."""


def inputs(arm: ArmSpec, settings: KernelSettings) -> BuildInputs:
    """Return all inputs that determine the compiler's output for an arm.

    Raises:
        NoSource, BadFolder, InputError, ToolMissing: see their classes.
    """
    base = settings.base_of(arm)
    if base.source.kind == "image":
        return prebuilt_inputs(arm, settings)
    return build_inputs(
        arm,
        base,
        patches_dir=settings.patches,
        extra=settings.extra,
        tarball_sha256=settings.tarball(base).sha256,
        compiler=tool_versions()[0],
        linker=tool_versions()[1],
        boxed=in_box(arm, settings),
    )


def plan(arm: ArmSpec, settings: KernelSettings) -> KernelKey:
    """Return the key under which the arm's kernel is, or will be, stored."""
    return inputs(arm, settings).key()


def lookup(key: KernelKey, settings: KernelSettings) -> KernelImage | None:
    """Return the stored kernel, or None. Reads one small file."""
    return settings.store.lookup(key)


def build(
    arms: Sequence[ArmSpec],
    settings: KernelSettings,
    *,
    product: Product | None = None,
    on_progress: ProgressSink = lambda progress: None,
    stop: Event | None = None,
) -> tuple[KernelImage, ...]:
    """Build kernels that are not stored yet; return one image per arm, in the given order.

    `product` says what to link from each arm's objects; the default is the kernel itself.

    Arms with equal inputs share one image. If all kernels are stored, this function needs no lock
    and no source. Otherwise a missing source is fetched if a Debian package contains it. If the
    process is killed, another call resumes the build.

    Raises:
        InputError: a patch changed during the build.
        DuetError: the message says what was wanted, what was found instead and what to do.
    """
    product, stop = product or Product(), stop or Event()

    def stored(arm: ArmSpec) -> KernelImage | None:
        return product.find_stored(plan(arm, settings), settings)

    bring_sources(arms, settings, stored, on_progress, stop)
    found: dict[KernelKey, KernelImage] = {}
    wanted: dict[KernelKey, ArmSpec] = {}
    keys = [plan(arm, settings) for arm in arms]
    for key, arm in zip(keys, arms, strict=True):
        if image := product.find_stored(key, settings):
            found[key] = image
        else:
            wanted.setdefault(key, arm)
    if wanted:
        groups: dict[tuple[str, str | None], list[ArmSpec]] = {}
        for key, arm in wanted.items():
            if settings.base_of(arm).source.kind == "image":
                found[key] = product.store_built_elsewhere(arm, inputs(arm, settings), settings)
                continue
            groups.setdefault((settings.base_of(arm).name, arm.config), []).append(arm)
        before = 0
        for some in groups.values():  # all arms of one tree are built before the next tree
            place = (before, len(wanted))
            found |= _Run(settings, product, some, place, on_progress, stop).build_all()
            before += len(some)
    for key, arm in zip(keys, arms, strict=True):
        if key not in found:
            raise InputError(
                f"the patches or the config of {arm.lesson}, {arm.name}, changed during the "
                "kernel build.",
                remedy="Start the build again; finished kernels are kept.",
            )
    return tuple(found[key] for key in keys)


def compile_in_tree(
    arm: ArmSpec, settings: KernelSettings, on_progress: ProgressSink, stop: Event
) -> None:
    """Compile an arm in its tree without storing it, as a start for builds of changed arms.

    Raises:
        BuildBusy: another build holds the lock.
        DuetError: as build().
    """
    _Run(settings, Product(), [arm], (0, 1), on_progress, stop).compile_first()


class _Run:
    """The work of one build() call in one tree.

    Args:
        product: what to link from each arm's objects.
        arms: arms to build, which have the same base and config.
        place: number of kernels that were built before these, and total number of kernels.
    """

    def __init__(
        self,
        settings: KernelSettings,
        product: Product,
        arms: list[ArmSpec],
        place: tuple[int, int],
        on_progress: ProgressSink,
        stop: Event,
    ) -> None:
        self._settings, self._product = settings, product
        self._on_progress = on_progress
        self._stop = stop
        self._started = time.monotonic()
        self._index = 0
        self._expected = 0
        self._place = place
        self._base = settings.base_of(arms[0])
        self._tarball = settings.tarball(self._base)
        self._tree = settings.tree(self._base, arms[0].config, self._tarball.sha256)
        self._arms = outwards(arms, settings.patches, self._base, self._tree)
        self._marker = self._tree.folder / MARKER

    def build_all(self) -> dict[KernelKey, KernelImage]:
        """Take the lock, and build each arm that no other process has stored meanwhile."""
        check_tools()
        made: dict[KernelKey, KernelImage] = {}
        with build_lock(
            self._settings.cache / LOCK,
            wait_s=self._settings.lock_wait_s,
            on_wait=lambda note: self._tell(Phase.WAIT, note=note),
            stop=self._stop,
        ) as lock_fd:
            for index, arm in enumerate(self._arms):
                self._index = index
                need = inputs(arm, self._settings)
                image = self._product.find_stored(need.key(), self._settings)
                made[need.key()] = image or self._build_one(arm, need, lock_fd)
        self._tell(Phase.DONE)
        return made

    def compile_first(self) -> None:
        """Compile the first arm; raise BuildBusy if another build holds the lock."""
        check_tools()
        with build_lock(self._settings.cache / LOCK, wait_s=0, on_wait=lambda note: None) as lock:
            tree, settings = self._tree, self._settings
            cold = _prepare(tree, self._tarball, self._base, settings, lock, self._tell)
            self._compiled(self._arms[0], lock, cold=cold)

    def _build_one(self, arm: ArmSpec, need: BuildInputs, lock_fd: int) -> KernelImage:
        started = time.monotonic()
        cut_off = self._marker.exists()
        cold = _prepare(self._tree, self._tarball, self._base, self._settings, lock_fd, self._tell)
        self._tell(Phase.PATCH)
        if in_box(arm, self._settings):
            boxed = BoxedArm.of(arm, self._base, self._tree, self._settings)
            if cut_off or not boxed.near():
                self._compiled(beneath(arm), lock_fd, cold=cold)
            return self._build_in_sandbox(boxed, need, started)
        make, objects = self._compiled(arm, lock_fd, cold=cold)
        self._tell(Phase.STORE, objects)
        manifest = _manifest(self._tree.src, self._base, need, started, objects, cold=cold)
        return self._product.store(
            Made(self._tree.src, make, self._marker, self._stop),
            manifest,
            self._settings,
            lambda note: self._tell(Phase.LINK, objects, note),
        )

    def _compiled(self, arm: ArmSpec, lock_fd: int, *, cold: bool) -> tuple[Make, int]:
        """Switch the tree to an arm and link its kernel; return make and the number of objects."""
        standing = TreeState.of(arm, self._settings.patches, self._base)
        tree, src = self._tree, self._tree.src
        former, compiled_with = read_tree_state(tree.folder), read_fingerprint(tree.folder)
        write_tree_state(tree.folder, None)
        changes = tree.changes(arm_patches(arm, self._settings.patches, self._base))
        edits_only = tree.edits_only(changes)
        tree.write(changes)
        write_tree_state(tree.folder, standing)
        make = self._make(arm, lock_fd)
        self._tell(Phase.CONFIG)
        fragments = self._settings.fragments(arm)
        more = read_fragments(self._settings.more)
        configure(make, src, fragments, lenient=self._base.lenient, dispensable=more)
        compiles_with = fingerprint(src)
        known = edits_only and compiled_with == compiles_with
        stale = stale_objects(src, changes) if known else None
        guess = self._settings.beside(f"objects{self._settings.variant}", self._base)
        fresh = cold and tree.objects() == 0
        self._expected = max(1, self._to_compile(changes, guess) if stale is None else len(stale))
        pace = self._settings.cache / "pace"
        began = time.monotonic()
        objects = self._compile(make, forecast(former, self._expected, read_pace(pace)), stale)
        write_pace(pace, objects, time.monotonic() - began)
        write_tree_state(tree.folder, standing, compiles_with)
        if fresh:
            guess.write_text(f"{objects}\n")
        return make, objects

    def _make(self, arm: ArmSpec, lock_fd: int) -> Make:
        return Make(
            self._tree.src,
            self._settings.cache / "logs" / f"build-{plan(arm, self._settings)}.log",
            jobs=self._settings.jobs,
            lock_fd=lock_fd,
            ccache=self._settings.beside("ccache", self._base),
        )

    def _to_compile(self, changed: Collection[str], guess: Path) -> int:
        """Estimate how many objects a search will find."""
        return max(_read_count(guess) - self._tree.objects(), self._tree.reach(list(changed)))

    def _build_in_sandbox(self, boxed: BoxedArm, need: BuildInputs, started: float) -> KernelImage:
        self._expected = max(boxed.reach(), 1)
        counter = MakeCounter()
        self._tell(Phase.COMPILE, note="In a sandbox, from the objects of the tree.")
        with tempfile.TemporaryDirectory(prefix="duet-boxed-") as folder:
            line = partial(self._count, counter)
            files = build_in_box(boxed, Path(folder), on_line=line, stop=self._stop)
            self._tell(Phase.STORE, counter.objects)
            src = self._tree.src
            manifest = _manifest(src, self._base, need, started, counter.objects, cold=False)
            return self._product.store_files(files, manifest, self._settings)

    def _count(self, counter: MakeCounter, line: str) -> None:
        if counter.feed(line):
            self._tell(Phase.LINK if counter.linking else Phase.COMPILE, counter.objects)

    def _compile(self, make: Make, note: str, stale: Sequence[str] | None) -> int:
        """Run make; return the number of compiled objects.

        Args:
            stale: the objects to compile; None if make must search for them.
        """
        counter = MakeCounter()
        run = partial(make.run, on_line=partial(self._count, counter), stop=self._stop)
        self._marker.touch()
        durable.sync_folder(self._marker.parent)
        self._tell(Phase.COMPILE, note=note)
        src = self._tree.src
        if stale is not None:
            touch_archive(src)
            run("bzImage", search_limit(stale))
        if stale is None or not are_fresh(src, stale):
            run("bzImage")
        os.sync()  # without the marker, all objects count as complete
        self._marker.unlink()
        return counter.objects

    def _tell(self, phase: Phase, objects: int = 0, note: str = "") -> None:
        arm = self._arms[self._index]
        self._on_progress(
            BuildProgress(
                phase=phase,
                lesson=arm.lesson,
                arm=arm.name,
                arm_index=self._place[0] + self._index,
                arms_total=self._place[1],
                objects_done=objects,
                objects_expected=max(self._expected, objects),
                elapsed_s=time.monotonic() - self._started,
                note=note,
            )
        )


def _prepare(
    tree: WorkTree,
    tarball: Tarball,
    base: Base,
    settings: KernelSettings,
    lock_fd: int,
    tell: Callable[..., None],
) -> bool:
    """Unpack the tree, or repair it after an interrupted build; return whether it was unpacked."""
    if not tree.src.is_dir():
        check_space(settings.cache, settings.tree_bytes, "to unpack and compile a kernel")
        tell(Phase.EXTRACT)
        unpack(tarball, base, tree.src, lock_fd=lock_fd)
        return True
    check_space(settings.cache, settings.image_bytes, "to link and store a kernel")
    check_series(tree.src, base, tarball.path)
    marker = tree.folder / MARKER
    if marker.exists():
        tell(Phase.PATCH, note="The last build was interrupted; this one resumes it.")
        sweep_half_written(tree.src)
        marker.unlink()
    return False


def _manifest(
    src: Path, base: Base, need: BuildInputs, started: float, objects: int, *, cold: bool
) -> Manifest:
    seconds = round(time.monotonic() - started, 1)
    version = kernel_version(src)
    return manifest_of(need, version, base.package, seconds=seconds, objects=objects, cold=cold)


def _read_count(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return OBJECTS_GUESS


# Compile an arm before a visitor changes it, so that building the change is fast.


def make_ready(arm: ArmSpec, settings: KernelSettings, stop: Event) -> bool:
    """Compile the objects that a build of a changed arm would have to compile first. Blocks.

    Other builds take precedence. This function does not start while another build holds the lock,
    and stops when any process requests the lock. Objects that it has already compiled are kept.

    Args:
        arm: an arm of the lesson, without a change.

    Returns:
        Whether anything was compiled. False if no kernel has been compiled in the tree yet, because
        only builds for lessons compile a tree's first kernel.

    Raises:
        BuildBusy: another build holds the lock.
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
    compile_in_tree(arm, settings, look, stop)
    return True
