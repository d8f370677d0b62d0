# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel bases: what arms are patches on. A base is a folder with base.yaml, found by looking.

They lie in kernel-patches/bases of the checkout and of each folder that DUET_LESSONS names; a
base.yaml anywhere else is named by its path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from duet.base.errors import InputError
from duet.base.settings import extra_lessons
from duet.lessons.document import LessonError, Problem, key_of, meant, read
from duet.lessons.schema.base import BaseName, Name, Strict

# base.yaml: the keys that describe a kernel base.

Suite = Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$")]


class SourceFile(Strict):
    """Where the source comes from: one of tarball, git, tree, image. Relative to base.yaml."""

    package: str = Field(default="", description="Debian package that has the tarball")
    suites: tuple[Suite, ...] = Field(
        default=(),
        description="of Debian's archive that have `package`; the newest version is taken, where"
        " the tarball is not there and this machine's own package lists do not have it",
    )
    tarball: str | None = Field(
        default=None, description="linux-*.tar.*; with `package`: where the package installs it"
    )
    git: str | None = Field(default=None, description="a repository; `ref` says which commit")
    ref: str = Field(default="HEAD", description="commit, tag or branch of `git`")
    tree: str | None = Field(default=None, description="a folder with an unbuilt kernel source")
    image: str | None = Field(
        default=None,
        description="a folder with the bzImage and vmlinux of a kernel that was built elsewhere",
    )


class VariantFile(Strict):
    """Another configuration of a base."""

    about: str = Field(description="what differs, in words")
    config: str = Field(description="a fragment that is read after those of the base")


class BaseFile(Strict):
    """base.yaml."""

    about: str = Field(description="what it is, for a list")
    series: str = Field(pattern=r"^\d+\.\d+$", description='in quotes: version, e.g. "6.12"')
    source: SourceFile = Field(description="one of tarball, git, tree, image")
    config: tuple[str, ...] = Field(
        default=(), description="fragments over allnoconfig, in order; or those of `like`"
    )
    variants: dict[Name, VariantFile] = Field(
        default_factory=dict, description="further configurations, by name"
    )
    like: BaseName | None = Field(
        default=None,
        description="the base for which its patches are written: its config, its both/ and those "
        "of lessons are used",
    )
    lenient: bool = Field(
        default=False,
        description="options of `config` that this source does not have, or not so, are left out,"
        " but for those that guests need; else they fail the build",
    )
    default: bool = Field(default=False, description="the base of arms that name none")


BASES = "bases"
FILE = "base.yaml"
BOTH = "both"
"""Folder of the patches that all arms carry, in a base's folder and in a lesson's."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a source lies.

    Args:
        package: Debian package that has it; "": none does.
        ref: of a git repository.
        suites: of Debian's archive that have the package.
    """

    kind: Literal["tarball", "git", "tree", "image"]
    path: Path
    package: str = ""
    ref: str = ""
    suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """A base, its files looked up.

    Args:
        folder: of its patches: that of base.yaml, or of the base that it is `like`.
        both: name of the folders of instrumentation in lessons.
        fragments: its configuration, in order; a later file overrides an earlier.
        lenient: options that the source does not have are left out.
    """

    name: str
    about: str
    series: str
    source: Source
    folder: Path
    both: str
    fragments: tuple[Path, ...]
    variants: Mapping[str, Path] = field(default_factory=dict, hash=False)
    lenient: bool = False

    @property
    def package(self) -> str:
        """The package that has its source, else a name like one; for folders and manifests."""
        return self.source.package or f"linux-{self.name}"

    @property
    def tarball(self) -> Path:
        """Where its source lies; a folder, if it is no tarball."""
        return self.source.path

    def config(self, variant: str | None) -> tuple[Path, ...]:
        """The fragments of a variant; None: of the base itself.

        Raises:
            InputError: it has no such variant.
        """
        if variant is None:
            return self.fragments
        if variant not in self.variants:
            known = sorted(self.variants)
            raise InputError(
                f"the base {self.name} has no configuration '{variant}'{meant(variant, known)}.",
                remedy=f"Choose from: {', '.join(known)}." if known else "Leave `config` out.",
            )
        return (*self.fragments, self.variants[variant])


def base_folders(patches_dir: Path) -> dict[str, Path]:
    """Name -> folder of every base, those of kernel-patches first."""
    tops = (patches_dir, *(folder / "kernel-patches" for folder in extra_lessons()))
    found: dict[str, Path] = {}
    for top in tops:
        for path in sorted((top / BASES).glob(f"*/{FILE}")):
            found.setdefault(path.parent.name, path.parent)
    return found


def find_base(name: str | None, patches_dir: Path) -> Base:
    """The base of that name, or at that path; None: the default one.

    Raises:
        InputError: there is none, or its file cannot be used.
    """
    known = base_folders(patches_dir)
    if name is None:
        return _default(known, patches_dir)
    if name in known:
        return _read(known[name], patches_dir)
    path = Path(name).expanduser()
    folder = path.parent if path.name == FILE else path
    if (folder / FILE).is_file():
        return _read(folder.absolute(), patches_dir)
    raise InputError(
        f"there is no kernel base '{name}'{meant(name, list(known))}.",
        remedy=f"Choose from: {', '.join(known)}; or name a folder with a {FILE}.",
    )


def _default(known: Mapping[str, Path], patches_dir: Path) -> Base:
    marked = [folder for folder in known.values() if _parsed(folder).default]
    own = [folder for folder in marked if folder.is_relative_to(patches_dir)]
    if len(own) != 1:
        raise InputError(
            f"one base of {patches_dir / BASES} is to say `default: true`, but {len(own)} do.",
            remedy=f"Say so in one {FILE} there.",
        )
    return _read(own[0], patches_dir)


def _read(folder: Path, patches_dir: Path) -> Base:
    said = _parsed(folder)
    source = _source(folder, said.source)
    if said.like is not None:
        like = _like(folder, said.like, patches_dir)
        own = tuple(folder / name for name in said.config)
        variants = {**like.variants, **_variants(folder, said)}
        return Base(
            folder.name,
            said.about,
            said.series,
            source,
            like.folder,
            like.both,
            own or like.fragments,
            variants,
            said.lenient,
        )
    both = BOTH if said.default else f"{BOTH}-{folder.name}"
    fragments = tuple(folder / name for name in said.config)
    if not fragments:
        raise _wrong(folder, "config", "this key is missing", "Name a fragment, or say `like`.")
    variants = _variants(folder, said)
    return Base(
        folder.name,
        said.about,
        said.series,
        source,
        folder,
        both,
        fragments,
        variants,
        said.lenient,
    )


def _like(folder: Path, name: str, patches_dir: Path) -> Base:
    """The base whose patches another takes."""
    there = base_folders(patches_dir).get(name)
    if there is not None and (there == folder or _parsed(there).like is not None):
        sentence = f"'{name}' has no patches of its own"
        raise _wrong(folder, "like", sentence, "Name a base that is not `like` another.")
    return find_base(name, patches_dir)


def _variants(folder: Path, said: BaseFile) -> dict[str, Path]:
    return {name: folder / variant.config for name, variant in said.variants.items()}


def _source(folder: Path, said: SourceFile) -> Source:
    kinds: dict[Literal["tarball", "git", "tree", "image"], str | None] = {
        "tarball": said.tarball,
        "git": said.git,
        "tree": said.tree,
        "image": said.image,
    }
    named = [(kind, path) for kind, path in kinds.items() if path is not None]
    if len(named) != 1:
        sentence = f"one of {', '.join(kinds)} is wanted, but {len(named)} came"
        raise _wrong(folder, "source", sentence, "Name the one place that the source comes from.")
    kind, path = named[0]
    ref = said.ref if kind == "git" else ""
    return Source(kind, folder / Path(path).expanduser(), said.package, ref, said.suites)


_parsed_files: dict[Path, tuple[tuple[int, int], BaseFile]] = {}


def _parsed(folder: Path) -> BaseFile:
    """base.yaml, read again when it changed."""
    path = folder / FILE
    status = path.stat()
    stamp = (status.st_size, status.st_mtime_ns)
    known = _parsed_files.get(path)
    if known is None or known[0] != stamp:
        name = f"{BASES}/{folder.name}/{FILE}"
        document = read(path, name)
        try:
            known = (stamp, BaseFile.model_validate(document.values))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = tuple(first["loc"])
            sentence = first["msg"][:1].lower() + first["msg"][1:]
            remedy = "kernel-patches/README.md has the keys of a base."
            problem = Problem(name, document.line(place), key_of(place), sentence, remedy)
            raise LessonError([problem]) from error
        _parsed_files[path] = known
    return known[1]


def _wrong(folder: Path, key: str, sentence: str, remedy: str) -> LessonError:
    name = f"{BASES}/{folder.name}/{FILE}"
    line = read(folder / FILE, name).line((key,))
    return LessonError([Problem(name, line, key, sentence, remedy)])


# Options without which a guest does not boot, cannot be reached or cannot be traced.
#
# A base that is `lenient` may lack any other option of its configuration, but those that somebody
# asked for by name.

ASKED = "asked.config"
"""The file of a configuration that has the latter."""
OF_TOOLS = re.compile(
    r"CONFIG_(?:CC|GCC\d*|CLANG|AS|LD|LLD|PAHOLE|RUSTC|BINDGEN|TOOLS_SUPPORT)_|CONFIG_BUILD_SALT$"
)
"""What Kconfig finds out of compilers and linkers; here they are those of this machine."""
NEEDED = frozenset(
    f"CONFIG_{name}"
    for name in (
        # the machine: x86-64 under QEMU, its console, its initramfs
        *("64BIT", "SMP", "ACPI", "PCI", "BLK_DEV_INITRD", "TTY", "PRINTK"),
        *("SERIAL_8250", "SERIAL_8250_CONSOLE"),
        # the agent's ports and the scratch disks
        *("VIRTIO_PCI", "VIRTIO_CONSOLE", "VIRTIO_BLK"),
        # what init, busybox and the agent call
        *("BINFMT_ELF", "BINFMT_SCRIPT", "MULTIUSER", "PROC_FS", "SYSFS", "TMPFS", "SHMEM"),
        *("DEVTMPFS", "FUTEX", "EPOLL", "SIGNALFD", "TIMERFD", "EVENTFD", "POSIX_TIMERS"),
        # trace events and kprobes
        *("FTRACE", "FUNCTION_TRACER", "DYNAMIC_FTRACE", "KPROBES", "KPROBE_EVENTS", "KALLSYMS"),
        # System.map holds, and drgn can read
        *("RANDOMIZE_BASE", "JUMP_LABEL", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"),
    )
)
