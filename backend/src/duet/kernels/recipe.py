# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel is made of, and the key that follows from it. Pure but for reading the files.

Two arms with equal inputs are one image: lessons that carry the same instrumentation share
stock. Only what reaches the compiler counts, so a reworded commit message or comment rebuilds
nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NewType

from duet.base.errors import InputError
from duet.kernels.bases import BOTH, Base
from duet.kernels.diffs import hunk_end

KernelKey = NewType("KernelKey", str)

# How make is called. Part of the key; equal inputs give equal images, on any day and host.
BUILD_ENV: Mapping[str, str] = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "duet",
    "KBUILD_BUILD_HOST": "kernel",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}

DEBUG_FLAGS = ("-fno-var-tracking",)
"""Of the compiler, part of the key. Without it DWARF says where each local variable lies, which no
lens reads: an eighth of the compiling, a third of each object. The code is the same to the byte."""

FIRST_COMPARISON = 2
"""The first so many arms of a lesson are its first comparison."""

FROM_COMMIT = re.compile(
    r"From ([0-9a-f]{40}|[0-9a-f]{64}) Mon Sep 17 00:00:00 2001$", re.MULTILINE
)
"""git-format-patch(1): the date is always this one. Other mailboxes have an address there."""
_OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$")
_OPTION_OFF = re.compile(r"^# (CONFIG_\w+) is not set$")


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm as a lesson names it.

    Args:
        patches: its own, in order, on top of the instrumentation; a relative path is one in the
            lesson's patches folder.
        patch_dir: the lesson's patches folder; None is kernel-patches/<lesson>.
        instrumented: carries both/ of its base and both/ of the lesson; else an arm without
            patches is the very source of the base.
        base: name of its base; None: the default.
        config: a variant of the base's configuration; None: that of the base.
        change: the patch of a visitor on top of all others; it is built in a box.
        position: in the list of its lesson's arms, from 0; see FIRST_COMPARISON.
    """

    lesson: str
    name: str
    patches: tuple[Path, ...] = ()
    patch_dir: Path | None = None
    instrumented: bool = True
    base: str | None = None
    config: str | None = None
    change: Path | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class PatchInput:
    """One patch.

    Args:
        path: below the base's folder or a kernel-patches/, else absolute.
        sha256: of its diff alone.
        files: of the source that it touches.
        commit: that git format-patch made it of; "" where it names none.
    """

    path: str
    subject: str
    sha256: str
    files: tuple[str, ...] = ()
    commit: str = ""


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """Everything that decides what the compiler makes. Equal inputs, equal key.

    Args:
        boxed: a stranger's patch is among them. What came out of its box never stands for the
            kernel of the same inputs that was built outside.
    """

    tarball_sha256: str
    config_sha256: str
    patches: tuple[PatchInput, ...]
    compiler: str
    linker: str
    boxed: bool = False

    def key(self) -> KernelKey:
        """24 hex digits. A patch counts by its diff, not by its name or message."""
        parts = asdict(self) | {
            "patches": [patch.sha256 for patch in self.patches],
            "env": dict(BUILD_ENV),
            "debug": list(DEBUG_FLAGS),
        }
        if not self.boxed:  # the keys of all other kernels stay what they were
            del parts["boxed"]
        text = json.dumps(parts, sort_keys=True)
        return KernelKey(hashlib.sha256(text.encode()).hexdigest()[:24])


def read_options(text: str) -> dict[str, str]:
    """Options of a config or fragment: name -> value, 'n' for '# X is not set'."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        if match := _OPTION.match(line):
            options[match[1]] = match[2]
        elif match := _OPTION_OFF.match(line):
            options[match[1]] = "n"
    return options


def read_fragments(paths: Iterable[Path]) -> dict[str, str]:
    """The options of several fragments; a later one overrides an earlier.

    Raises:
        InputError: one of them is missing.
    """
    options: dict[str, str] = {}
    for path in paths:
        options |= read_options(_read(path, "a config"))
    return options


def write_options(options: Mapping[str, str]) -> str:
    """A fragment that asks for `options`; read_options() of it gives them back."""
    lines = (
        f"# {name} is not set" if value == "n" else f"{name}={value}"
        for name, value in options.items()
    )
    return "".join(f"{line}\n" for line in lines)


def unmet_options(asked: Mapping[str, str], got: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Options that did not stick, as (name, asked, got); an option the tree lacks counts as n."""
    return [
        (name, value, got.get(name, "n"))
        for name, value in asked.items()
        if got.get(name, "n") != value
    ]


def options_sha256(options: Mapping[str, str]) -> str:
    """Digest of the options themselves: comments and order do not count."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(options.items()))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)
def patch_diff(text: str) -> str:
    """The part of a format-patch file that changes source: no mail head, no index lines."""
    lines_left: list[str] = []
    inside, hunk = False, 0
    lines = text.split("\n")
    for at, line in enumerate(lines[:-1] if not lines[-1] else lines):
        # In a hunk a removed line "-" looks like the signature of a mail.
        inside = inside or line.startswith("diff --git ")
        if at >= hunk and line.rstrip() == "--":
            inside = False
        if inside and not line.startswith("index "):
            lines_left.append(line)
            hunk = max(hunk, hunk_end(lines, at)[0])
    return "\n".join(lines_left) + "\n"


def patch_subject(text: str) -> str:
    """The Subject of a format-patch file, unfolded, without '[PATCH]'; empty when absent."""
    match = re.search(r"^Subject: (.*(?:\n[ \t].*)*)", text, re.MULTILINE)
    if match is None:
        return ""
    return re.sub(r"^\[PATCH[^]]*]\s*", "", " ".join(match[1].split()))


def patch_commit(text: str) -> str:
    """The commit in the first line of a format-patch file; empty where it is zeros or absent."""
    match = FROM_COMMIT.match(text)
    return match[1] if match is not None and match[1].strip("0") else ""


def patched_files(text: str) -> list[str]:
    """Files that a patch touches, relative to the source tree, in its own order."""
    heads = re.findall(r"^diff --git a/(\S+) b/(\S+)$", text, re.MULTILINE)
    return list(dict.fromkeys(name for pair in heads for name in pair))


def read_patch(path: Path, patches_dir: Path, base_dir: Path | None = None) -> PatchInput:
    """Read one patch.

    Args:
        base_dir: the folder of the base: the names of its patches begin there.

    Raises:
        InputError: the file is missing or holds no `diff --git` part.
    """
    text = _read(path, "a patch")
    files = tuple(patched_files(text))
    if not files:
        raise InputError(
            f"{path.name} is not a patch in git format-patch form: it has no 'diff --git' line.",
            remedy="Make it with `git format-patch`.",
        )
    elsewhere = (top for top in path.parents if top.name == patches_dir.name)
    tops = (base_dir or patches_dir, patches_dir, *elsewhere)
    # A lesson may lie elsewhere; where its folder lies is no property of the kernel.
    top = next((top for top in tops if path.is_relative_to(top)), None)
    shown = (path if top is None else path.relative_to(top)).as_posix()
    digest = hashlib.sha256(patch_diff(text).encode()).hexdigest()
    return PatchInput(shown, patch_subject(text), digest, files, patch_commit(text))


def both_folders(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """The folders of instrumentation: that of the base, then that of the arm's lesson for it."""
    if not arm.instrumented:
        return ()
    return (base.folder / BOTH, _patch_dir(arm, patches_dir) / base.both)


def shared_patches(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """What the lesson's arms on this base carry, in name order: instrumentation and repairs."""
    folders = both_folders(arm, patches_dir, base)
    return tuple(path for folder in folders for path in sorted(folder.glob("*.patch")))


def arm_patches(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """All patches of an arm in order: what its lesson's arms share, its own, a visitor's."""
    own = tuple(_patch_dir(arm, patches_dir) / patch for patch in arm.patches)
    change = (arm.change,) if arm.change is not None else ()
    return shared_patches(arm, patches_dir, base) + own + change


def is_shared(path: str) -> bool:
    """Whether a patch, as PatchInput.path names it, is carried by all arms of its lesson."""
    name = PurePosixPath(path).parent.name
    return name == BOTH or name.startswith(f"{BOTH}-")


def _patch_dir(arm: ArmSpec, patches_dir: Path) -> Path:
    return arm.patch_dir or patches_dir / arm.lesson


def build_inputs(
    arm: ArmSpec,
    base: Base,
    *,
    patches_dir: Path,
    tarball_sha256: str,
    compiler: str,
    linker: str,
    extra: Iterable[Path] = (),
    boxed: bool = False,
) -> BuildInputs:
    """Collect the inputs of one kernel from the files of kernel-patches/.

    `extra` are configs that override those of the base and its variant.

    Raises:
        InputError: a config or a patch cannot be used, or the base has no such variant.
    """
    fragments = (*base.config(arm.config), *extra)
    return BuildInputs(
        tarball_sha256=tarball_sha256,
        config_sha256=options_sha256(read_fragments(fragments)),
        patches=tuple(
            read_patch(path, patches_dir, base.folder)
            for path in arm_patches(arm, patches_dir, base)
        ),
        compiler=compiler,
        linker=linker,
        boxed=boxed,
    )


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"wanted {what} at {path}, but there is no such file.",
            remedy="Name an existing file, or restore it from the repository.",
        ) from None
