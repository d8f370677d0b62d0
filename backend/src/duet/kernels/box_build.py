# SPDX-License-Identifier: GPL-2.0-or-later
"""Build a kernel with untrusted patches in a sandbox, on top of a compiled tree.

The tree itself stays unchanged. Patches that all arms of the lesson share are applied outside; the
sandbox gets the resulting files. Inside the sandbox, patch(1) applies the arm's own patches.
Objects come from the tree and, read-only, from ccache.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from duet.base import settings as house
from duet.base.errors import InfraError
from duet.confine import INPUTS, Job, Step, Wanted, check_box, missing_box, run_boxed
from duet.confine.box import RESULT_BYTES
from duet.kernels.bases import Base
from duet.kernels.compiler import BZIMAGE, Make, compile_fails, make_words
from duet.kernels.diffs import PATCH_OPTIONS, apply_error, exact_diff, read_diff
from duet.kernels.image import KernelImage, Manifest
from duet.kernels.prebuilt import store_prebuilt
from duet.kernels.recipe import BUILD_ENV, ArmSpec, BuildInputs, KernelKey, arm_patches
from duet.kernels.settings import KernelSettings
from duet.kernels.source import check_space
from duet.kernels.stale import ARCHIVE, fingerprint, search_limit, stale_objects
from duet.kernels.tree import WorkTree, ccache_environment, read_fingerprint

PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
NEAR_OBJECTS = 30
"""Limit on the objects that a sandboxed build compiles in addition to the patched files. Compiling
this many takes seconds. If more objects are stale, the arm is first compiled in the tree, outside
the sandbox, so that the next change of this arm compiles little. Arms of a lesson that share their
headers differ by 1-12 objects."""
TEXT_BYTES = 16 << 20
"""Size limit for System.map and for the config. Usual sizes: 2 MB and 60 KB."""


@dataclass(frozen=True, slots=True)
class BoxedArm:
    """Inputs of a sandboxed build.

    Args:
        shared: trusted patches, which come from the repository.
        own: untrusted patches, in order, which are applied after `shared`.
    """

    tree: WorkTree
    shared: Sequence[Path]
    own: Sequence[Path]
    jobs: int
    ccache: Path

    @classmethod
    def of(cls, arm: ArmSpec, base: Base, tree: WorkTree, settings: KernelSettings) -> BoxedArm:
        """Return the inputs for building an arm on the tree of its base and config."""
        shared = arm_patches(beneath(arm), settings.patches, base)
        own = arm_patches(arm, settings.patches, base)[len(shared) :]
        return cls(tree, shared, own, settings.jobs, settings.beside("ccache", base))

    def near(self) -> bool:
        """Whether the tree is compiled, and the shared patches make few of its objects stale."""
        if not is_compiled(self.tree):
            return False
        return self.tree.reach(list(self.tree.changes(self.shared))) <= NEAR_OBJECTS

    def reach(self) -> int:
        """Estimate how many objects a sandboxed build compiles."""
        return self.tree.reach(list(self.tree.changes([*self.shared, *self.own])))

    def stale(self) -> list[str] | None:
        """Return the objects that a sandboxed build compiles; None if make has to search."""
        changes = self.tree.changes([*self.shared, *self.own])
        compiled_with = read_fingerprint(self.tree.folder)
        if not self.tree.edits_only(changes) or compiled_with != fingerprint(self.tree.src):
            return None
        return stale_objects(self.tree.src, changes)


def beneath(arm: ArmSpec) -> ArmSpec:
    """Return the arm without its untrusted patches; this arm may be built outside a sandbox."""
    return replace(arm, change=None) if arm.change is not None else replace(arm, patches=())


def is_compiled(tree: WorkTree) -> bool:
    """Whether a kernel was linked in the tree."""
    return (tree.src / ".config").is_file() and (tree.src / "vmlinux.o").exists()


def in_box(arm: ArmSpec, settings: KernelSettings) -> bool:
    """Whether an arm is built in a sandbox.

    An arm with a visitor's change is always built in a sandbox. For other arms, DUET_BUILD_SANDBOX
    and the folder of their patches decide: patches from the repository are never sandboxed.

    Raises:
        NoBox: a sandbox is required, but this machine cannot create a sandbox.
        InputError: DUET_BUILD_SANDBOX has an unknown value.
    """
    if arm.change is not None:
        check_box()
        return True
    wanted = house.build_sandbox()
    folder = arm.patch_dir
    if wanted == "off" or not arm.patches or folder is None:
        return False
    if folder.resolve().is_relative_to(settings.patches.resolve()):
        return False
    if wanted == "on":
        check_box()
    return not missing_box()


def build_in_box(
    arm: BoxedArm,
    to: Path,
    *,
    on_line: Callable[[str], None] = lambda line: None,
    stop: Event | None = None,
) -> dict[str, Path]:
    """Build a kernel into the folder `to`; return the files by their names in the store.

    The caller holds the tree lock.

    Raises:
        PatchRefused, PatchFails: a patch is not in the strict form, or does not fit the source.
        CompileFails: make failed; the message contains the compiler's error.
        BoxEnded, BoxStopped, NoBox: see duet.confine.
        InfraError: nothing is compiled in the tree yet.
    """
    src = arm.tree.src
    if not is_compiled(arm.tree):
        raise InfraError(
            "a sandboxed build starts from a compiled tree, but nothing is compiled here yet.",
            remedy="First build the same kernel without the patch: run ./duet build.",
        )
    # Call patch(1) once per patch. In a single call, all renames would start from the original
    # files.
    diffs = {
        f"patch{number}": exact_diff(read_diff(path.read_bytes().decode()))
        for number, path in enumerate(arm.own)
    }
    place, files = _placing(arm.tree.changes(arm.shared))
    stale = arm.stale()
    search = [] if stale is None else [search_limit(stale)]
    place += f"touch {ARCHIVE}\n" if search else ""
    variables = ccache_environment(arm.ccache, PATH)
    done = run_boxed(
        Job(
            tree=str(src),
            steps=(
                Step("place", ("/bin/sh", "-e", f"{INPUTS}/place.sh")),
                *(
                    Step(name, ("patch", *PATCH_OPTIONS, "--input", f"{INPUTS}/{name}"))
                    for name in diffs
                ),
                Step("make", (*make_words(src, arm.jobs), "bzImage", *search)),
            ),
            files={**diffs, "place.sh": place, **files},
            readable=_readable(arm.ccache) if variables else (),
            environment=_environment(variables),
            results=_results(to),
        ),
        on_line=on_line,
        stop=stop,
    )
    if done.failed in diffs:
        raise apply_error(arm.own[list(diffs).index(done.failed)].name, done.tail)
    if done.failed:
        raise compile_fails(done.tail, "Correct the patch and build again.")
    return {Path(one.to).name: Path(one.to) for one in _results(to)}


def _placing(changes: Mapping[str, bytes | None]) -> tuple[str, dict[str, str]]:
    """Return a script that copies whole files into the sandboxed tree, and the script's inputs."""
    lines, files = [], {}
    for number, (name, content) in enumerate(sorted(changes.items())):
        quoted = shlex.quote(name)
        if content is None:
            lines.append(f"rm -f {quoted}")
            continue
        files[f"file{number}"] = content.decode(errors="surrogateescape")
        lines.append(f"mkdir -p {shlex.quote(str(Path(name).parent))}")
        lines.append(f"cp {INPUTS}/file{number} {quoted}")
    return "\n".join([*lines, ""]), files


def _readable(ccache: Path) -> tuple[str, ...]:
    ccache.mkdir(parents=True, exist_ok=True)
    return (str(ccache), str(ccache.with_name(ccache.name + "-bin")))


def _environment(ccache: Mapping[str, str]) -> dict[str, str]:
    """Return make's environment, in which ccache is read-only."""
    reading = {"CCACHE_READONLY": "1", "CCACHE_NOSTATS": "1", "CCACHE_TEMPDIR": "/tmp/ccache"}
    return {"PATH": PATH, "HOME": "/tmp", **(ccache and reading), **ccache, **BUILD_ENV}


def _results(to: Path) -> tuple[Wanted, ...]:
    return (
        Wanted(BZIMAGE, str(to / "bzImage"), "bzImage", RESULT_BYTES),
        Wanted("vmlinux", str(to / "vmlinux"), "vmlinux", RESULT_BYTES),
        Wanted("System.map", str(to / "System.map"), "text", TEXT_BYTES),
        Wanted(".config", str(to / "config"), "text", TEXT_BYTES),
    )


# Result of linking an arm's compiled objects: the arm's kernel, or other layouts of this kernel.


@dataclass(frozen=True, slots=True)
class Made:
    """A tree in which an arm's kernel was just linked, and the make that runs in it.

    Args:
        marker: file that exists while the tree may contain half-written files, which the next build
            removes.
    """

    src: Path
    make: Make
    marker: Path
    stop: Event

    def files(self) -> dict[str, Path]:
        """Return the tree's files by their names in the store."""
        return {
            "bzImage": self.src / BZIMAGE,
            "vmlinux": self.src / "vmlinux",
            "System.map": self.src / "System.map",
            "config": self.src / ".config",
        }


class Product:
    """What a build links and stores: a kernel or, in `duet.kernels.links`, also other layouts."""

    def find_stored(self, key: KernelKey, settings: KernelSettings) -> KernelImage | None:
        """Return the stored kernel, or None if a build is necessary."""
        return settings.store.lookup(key)

    def store_built_elsewhere(
        self, arm: ArmSpec, need: BuildInputs, settings: KernelSettings
    ) -> KernelImage:
        """Put a kernel that was built elsewhere into the store.

        Raises:
            DuetError: see store_prebuilt.
        """
        return store_prebuilt(arm, need, settings)

    def store(
        self, made: Made, manifest: Manifest, settings: KernelSettings, tell: Callable[[str], None]
    ) -> KernelImage:
        """Store the linked kernel. The caller holds the tree lock.

        Args:
            tell: called with a sentence about each slow step.

        Raises:
            DuetError: see Store.publish and Make.run.
        """
        return self.store_files(made.files(), manifest, settings)

    def store_files(
        self, files: Mapping[str, Path], manifest: Manifest, settings: KernelSettings
    ) -> KernelImage:
        """Store files that a sandbox returned, by store name. The errors are those of store()."""
        check_space(settings.cache, settings.image_bytes, "to store a kernel")
        return settings.store.publish(files, manifest)
