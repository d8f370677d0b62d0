# SPDX-License-Identifier: GPL-2.0-or-later
"""Build inputs of a kernel, and their digest, which is the kernel's key. Only reads files.

Arms with equal inputs share one image: lessons with the same instrumentation share the stock
kernel. Only inputs of the compiler count, so a new commit message does not cause a build.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final, NewType

from duet.base.errors import InputError
from duet.kernels.bases import BOTH, Base
from duet.kernels.diffs import hunk_end

KernelKey = NewType("KernelKey", str)

# Environment of make, which is part of the key. With this environment, equal inputs give equal
# images on any day and host.
BUILD_ENV: Mapping[str, str] = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "duet",
    "KBUILD_BUILD_HOST": "kernel",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}

DEBUG_FLAGS = ("-fno-var-tracking",)
"""Compiler flags, and part of the key. By default GCC would record where each local variable lies,
which no lens reads and which costs an eighth of the compile time and a third of each object's size.
The code is the same."""

FIRST_COMPARISON = 2
"""Number of arms in a lesson's first comparison."""

FROM_COMMIT = re.compile(
    r"From ([0-9a-f]{40}|[0-9a-f]{64}) Mon Sep 17 00:00:00 2001$", re.MULTILINE
)
"""git-format-patch(1) always writes this date. Other mailbox files have an address before the
date."""
_OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$")
_OPTION_OFF = re.compile(r"^# (CONFIG_\w+) is not set$")


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """Build spec of one arm.

    Args:
        patches: the arm's own patches, which are applied in this order after the instrumentation;
            relative paths begin in the lesson's patches folder.
        patch_dir: the lesson's patches folder; None means kernel-patches/<lesson>.
        instrumented: whether to apply the instrumentation: the base's both/ and the lesson's both/.
            If False, an arm without patches is the base's unmodified source.
        base: name of the arm's base; None means the default base.
        config: variant of the base's configuration; None means the base's own configuration.
        change: a visitor's patch, applied last; an arm with such a patch is built in a sandbox.
        position: index in the lesson's list of arms, from 0; see FIRST_COMPARISON.
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
        path: path relative to the base's folder or to a kernel-patches/ folder; for other folders,
            absolute.
        sha256: digest of the patch's diff alone.
        files: source files that the patch touches.
        commit: commit from which git format-patch made the patch; "" if unknown.
    """

    path: str
    subject: str
    sha256: str
    files: tuple[str, ...] = ()
    commit: str = ""


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """All inputs that determine the compiler's output. Equal inputs have equal keys.

    Args:
        boxed: whether a patch is untrusted. This flag is part of the key, so a sandboxed build
            never replaces a kernel that was built from the same inputs outside a sandbox.
    """

    tarball_sha256: str
    config_sha256: str
    patches: tuple[PatchInput, ...]
    compiler: str
    linker: str
    boxed: bool = False

    def key(self) -> KernelKey:
        """Return the key, 24 hex digits. Of a patch, only the diff affects the key."""
        parts = asdict(self) | {
            "patches": [patch.sha256 for patch in self.patches],
            "env": dict(BUILD_ENV),
            "debug": list(DEBUG_FLAGS),
        }
        # Omit `boxed` if it is False, so that kernels from before this entry keep their keys.
        if not self.boxed:
            del parts["boxed"]
        text = json.dumps(parts, sort_keys=True)
        return KernelKey(hashlib.sha256(text.encode()).hexdigest()[:24])


def read_options(text: str) -> dict[str, str]:
    """Parse a config or fragment into values by name; '# X is not set' gives 'n'."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        if match := _OPTION.match(line):
            options[match[1]] = match[2]
        elif match := _OPTION_OFF.match(line):
            options[match[1]] = "n"
    return options


def read_fragments(paths: Iterable[Path]) -> dict[str, str]:
    """Read the options of several fragments. Later fragments override earlier fragments.

    Raises:
        InputError: a file is missing.
    """
    options: dict[str, str] = {}
    for path in paths:
        options |= read_options(_read(path, "a config"))
    return options


def write_options(options: Mapping[str, str]) -> str:
    """Format options as a fragment from which read_options() returns them."""
    lines = (
        f"# {name} is not set" if value == "n" else f"{name}={value}"
        for name, value in options.items()
    )
    return "".join(f"{line}\n" for line in lines)


def unmet_options(asked: Mapping[str, str], got: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return lost options as (name, wanted value, actual value); unknown options count as n."""
    return [
        (name, value, got.get(name, "n"))
        for name, value in asked.items()
        if got.get(name, "n") != value
    ]


def options_sha256(options: Mapping[str, str]) -> str:
    """Digest the options; comments and order do not affect the digest."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(options.items()))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)
def patch_diff(text: str) -> str:
    """Return the diff of a format-patch file, without index lines and without the mail's text."""
    lines_left: list[str] = []
    inside, hunk = False, 0
    lines = text.split("\n")
    for at, line in enumerate(lines[:-1] if not lines[-1] else lines):
        # In a hunk, a removed line "-" looks like the line that precedes a mail's signature.
        inside = inside or line.startswith("diff --git ")
        if at >= hunk and line.rstrip() == "--":
            inside = False
        if inside and not line.startswith("index "):
            lines_left.append(line)
            hunk = max(hunk, hunk_end(lines, at)[0])
    return "\n".join(lines_left) + "\n"


def patch_subject(text: str) -> str:
    """Return a format-patch file's unfolded Subject without '[PATCH]', or "" if it has none."""
    match = re.search(r"^Subject: (.*(?:\n[ \t].*)*)", text, re.MULTILINE)
    if match is None:
        return ""
    return re.sub(r"^\[PATCH[^]]*]\s*", "", " ".join(match[1].split()))


def patch_commit(text: str) -> str:
    """Return the commit in a format-patch file's first line; "" if it is absent or all zeros."""
    match = FROM_COMMIT.match(text)
    return match[1] if match is not None and match[1].strip("0") else ""


MOST_CHARACTERS: Final = 75
"""Maximum length of a subject and of a line of a commit message, as checkpatch.pl has it."""
FEWEST_WORDS: Final = 40
SUBJECT: Final = re.compile(r"[a-z0-9/_-]+(?:, ?[a-z0-9/_-]+)*(?:: \w+)*: [a-z]")
TRAILER: Final = re.compile(
    r"^(?:(?:Signed-off|Reviewed|Acked|Tested|Co-developed)-by|Assisted-by):", re.M | re.I
)


def message_faults(text: str) -> Iterator[tuple[str, str]]:
    """Yield (sentence, remedy) for each fault of a patch's commit message.

    Args:
        text: file in the form of git format-patch.
    """
    subject = patch_subject(text)
    if not SUBJECT.match(subject):
        yield f"the subject '{subject}' names no subsystem", "Write 'subsystem: what it does'."
    if len(subject) > MOST_CHARACTERS:
        sentence = f"the subject has {len(subject)} characters, more than {MOST_CHARACTERS}"
        yield sentence, "Shorten it."
    message, diffstat, _ = text.partition("\n\n")[2].partition("\n---\n")
    if not diffstat:
        yield "no line '---' ends the message", "Write the file with git format-patch."
    for line in message.splitlines():
        if len(line) > MOST_CHARACTERS and not line.startswith("Link: "):
            sentence = f"a line of the message has {len(line)} characters: '{line[:30]}...'"
            yield sentence, f"Break it after {MOST_CHARACTERS} at the latest."
    if len(message.split()) < FEWEST_WORDS:
        sentence = f"the message has {len(message.split())} words, fewer than {FEWEST_WORDS}"
        yield sentence, "Write symptom, why, how and the measured effect."
    if found := TRAILER.search(text):
        yield f"the patch has a line '{found[0]}'", "Remove it; only people give such lines."


def patched_files(text: str) -> list[str]:
    """Return files that a patch touches, relative to the source tree, in diff order."""
    heads = re.findall(r"^diff --git a/(\S+) b/(\S+)$", text, re.MULTILINE)
    return list(dict.fromkeys(name for pair in heads for name in pair))


def read_patch(path: Path, patches_dir: Path, base_dir: Path | None = None) -> PatchInput:
    """Read one patch.

    Args:
        base_dir: the base's folder; paths of patches in this folder are relative to it.

    Raises:
        InputError: the file is missing or has no `diff --git` part.
    """
    text = _read(path, "a patch")
    files = tuple(patched_files(text))
    if not files:
        raise InputError(
            f"{path.name} is not a patch in git format-patch form: it has no 'diff --git' line.",
            remedy="Make the patch with `git format-patch`.",
        )
    elsewhere = (top for top in path.parents if top.name == patches_dir.name)
    tops = (base_dir or patches_dir, patches_dir, *elsewhere)
    # A lesson may be in any folder, because the folder's location must not affect the key.
    top = next((top for top in tops if path.is_relative_to(top)), None)
    shown = (path if top is None else path.relative_to(top)).as_posix()
    digest = hashlib.sha256(patch_diff(text).encode()).hexdigest()
    return PatchInput(shown, patch_subject(text), digest, files, patch_commit(text))


def both_folders(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """Return the instrumentation folders: the base's, then the lesson's for that base."""
    if not arm.instrumented:
        return ()
    return (base.folder / BOTH, _patch_dir(arm, patches_dir) / base.both)


def shared_patches(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """Return patches that all arms on this base share (instrumentation, repairs), by name."""
    folders = both_folders(arm, patches_dir, base)
    return tuple(path for folder in folders for path in sorted(folder.glob("*.patch")))


def arm_patches(arm: ArmSpec, patches_dir: Path, base: Base) -> tuple[Path, ...]:
    """Return all patches of an arm in order: shared patches, its own patches, a visitor's patch."""
    own = tuple(_patch_dir(arm, patches_dir) / patch for patch in arm.patches)
    change = (arm.change,) if arm.change is not None else ()
    return shared_patches(arm, patches_dir, base) + own + change


def is_shared(path: str) -> bool:
    """Whether all arms of a lesson contain this patch. `path` is the path in PatchInput."""
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
    """Collect the build inputs of one kernel from the files in kernel-patches/.

    `extra`: configs that override those of the base and its variant.

    Raises:
        InputError: a config or a patch is unusable, or the base has no such variant.
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
