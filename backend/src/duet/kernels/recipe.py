# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel is made of, and the key that follows from it. Pure but for reading the files.

Two arms with equal inputs are one image: stock is built once for all lessons. Only what
reaches the compiler counts, so a reworded commit message or comment rebuilds nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NewType

from duet.errors import InputError

KernelKey = NewType("KernelKey", str)

# How make is called. Part of the key; equal inputs give equal images, on any day and host.
BUILD_ENV: Mapping[str, str] = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "duet",
    "KBUILD_BUILD_HOST": "kernel",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}

_OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$")
_OPTION_OFF = re.compile(r"^# (CONFIG_\w+) is not set$")


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm as a lesson names it; `patches` in order, on top of those in both/."""

    lesson: str
    name: str
    patches: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """kernel-patches/BASE: where the source comes from and which series the patches are for."""

    package: str
    tarball: Path
    series: str


@dataclass(frozen=True, slots=True)
class PatchInput:
    """One patch: path below kernel-patches/ (or absolute), subject, digest of its diff alone."""

    path: str
    subject: str
    sha256: str


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """Everything that decides what the compiler makes. Equal inputs, equal key."""

    tarball_sha256: str
    config_sha256: str
    patches: tuple[PatchInput, ...]
    compiler: str
    linker: str

    def key(self) -> KernelKey:
        """24 hex digits. A patch counts by its diff, not by its name or message."""
        parts = asdict(self) | {
            "patches": [patch.sha256 for patch in self.patches],
            "env": dict(BUILD_ENV),
        }
        text = json.dumps(parts, sort_keys=True)
        return KernelKey(hashlib.sha256(text.encode()).hexdigest()[:24])


def read_base(path: Path) -> Base:
    """Read kernel-patches/BASE.

    Raises:
        InputError: the file or one of its three keys is missing, or a key is unknown.
    """
    known = ("package", "tarball", "series")
    pairs: dict[str, str] = {}
    for line in _read(path, "the kernel base").splitlines():
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        key, found, value = text.partition("=")
        if not found or key.strip() not in known:
            raise InputError(
                f"{path.name} has the line '{text}', but only {', '.join(known)} are known.",
                remedy=f"Correct {path.name} in kernel-patches.",
            )
        pairs[key.strip()] = value.strip()
    if missing := [key for key in known if key not in pairs]:
        raise InputError(
            f"{path.name} does not say {' and '.join(missing)}.",
            remedy=f"Add the line '{missing[0]} = ...' to {path.name} in kernel-patches.",
        )
    return Base(pairs["package"], Path(pairs["tarball"]), pairs["series"])


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
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = inside or line.startswith("diff --git ")
        if inside and line.rstrip() == "--":  # the mail signature of format-patch
            inside = False
        if inside and not line.startswith("index "):
            kept.append(line)
    return "\n".join(kept) + "\n"


def patch_subject(text: str) -> str:
    """The Subject of a format-patch file, unfolded, without '[PATCH]'; empty when absent."""
    match = re.search(r"^Subject: (.*(?:\n[ \t].*)*)", text, re.MULTILINE)
    if match is None:
        return ""
    return re.sub(r"^\[PATCH[^]]*]\s*", "", " ".join(match[1].split()))


def patched_files(text: str) -> list[str]:
    """Files that a patch touches, relative to the source tree, in its own order."""
    return list(dict.fromkeys(re.findall(r"^diff --git a/\S+ b/(\S+)$", text, re.MULTILINE)))


def read_patch(path: Path, patches_dir: Path) -> PatchInput:
    """Read one patch.

    Raises:
        InputError: the file is missing or holds no `diff --git` part.
    """
    text = _read(path, "a patch")
    if not patched_files(text):
        raise InputError(
            f"{path.name} is not a patch in git format-patch form: it has no 'diff --git' line.",
            remedy="Make it with `git format-patch`.",
        )
    try:
        shown = path.relative_to(patches_dir).as_posix()
    except ValueError:
        shown = path.as_posix()
    digest = hashlib.sha256(patch_diff(text).encode()).hexdigest()
    return PatchInput(shown, patch_subject(text), digest)


def shared_patches(patches_dir: Path) -> tuple[Path, ...]:
    """both/*.patch in name order: the instrumentation every arm of every lesson carries."""
    return tuple(sorted((patches_dir / "both").glob("*.patch")))


def arm_patches(arm: ArmSpec, patches_dir: Path) -> tuple[Path, ...]:
    """All patches of an arm in order; its own are looked up in kernel-patches/<lesson>/."""
    own = tuple(patches_dir / arm.lesson / patch for patch in arm.patches)
    return shared_patches(patches_dir) + own


def build_inputs(
    patches: Iterable[Path],
    *,
    patches_dir: Path,
    tarball_sha256: str,
    compiler: str,
    linker: str,
    fragments: Iterable[Path] = (),
) -> BuildInputs:
    """Collect the inputs of one kernel from the files of kernel-patches/.

    `fragments` are the configs in order, by default base.config alone.

    Raises:
        InputError: a config or a patch cannot be used.
    """
    return BuildInputs(
        tarball_sha256=tarball_sha256,
        config_sha256=options_sha256(read_fragments(fragments or [patches_dir / "base.config"])),
        patches=tuple(read_patch(path, patches_dir) for path in patches),
        compiler=compiler,
        linker=linker,
    )


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"wanted {what} at {path}, but there is no such file.",
            remedy="Name an existing file, or restore it from the repository.",
        ) from None
