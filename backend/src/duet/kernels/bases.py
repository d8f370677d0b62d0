# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel bases: the kernels to which arms apply their patches. A base is a folder with base.yaml.

Bases in kernel-patches/bases of the checkout, and of each folder in DUET_LESSONS, are known by
name. Any other base.yaml must be given as a path.
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
    """Source of a base: a `tarball`, `git`, `tree` or `image`. Paths are relative to base.yaml."""

    package: str = Field(default="", description="Debian package that has the tarball")
    suites: tuple[Suite, ...] = Field(
        default=(),
        description="Debian suites that have `package`. If the tarball is missing and the package"
        " lists of this machine lack the package, the newest version of these suites is fetched",
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
    """Variant of a base: another configuration for the same source."""

    about: str = Field(description="what differs, in words")
    config: str = Field(description="a fragment that is read after those of the base")


class BaseFile(Strict):
    """Contents of base.yaml."""

    about: str = Field(description="one line for lists of bases")
    series: str = Field(pattern=r"^\d+\.\d+$", description='in quotes: version, e.g. "6.12"')
    since: str | None = Field(
        default=None,
        pattern=r"^\d+\.\d+$",
        description="in quotes: the oldest version that is configured like this base, where a "
        "kernel comes from elsewhere; default: `series`",
    )
    source: SourceFile = Field(description="one of tarball, git, tree, image")
    config: tuple[str, ...] = Field(
        default=(), description="fragments over allnoconfig, in order; or those of `like`"
    )
    variants: dict[Name, VariantFile] = Field(
        default_factory=dict, description="further configurations, by name"
    )
    like: BaseName | None = Field(
        default=None,
        description="another base whose config, both/ and lesson patches this base uses",
    )
    lenient: bool = Field(
        default=False,
        description="leave out options of `config` that this source lacks or sets differently,"
        " except those that guests need; if false, such an option fails the build",
    )
    default: bool = Field(default=False, description="the base of arms that name none")


BASES = "bases"
FILE = "base.yaml"
BOTH = "both"
"""Name of the folder with the patches that all arms carry. Bases and lessons have such folders."""


@dataclass(frozen=True, slots=True)
class Source:
    """Location of a kernel source.

    Args:
        package: Debian package that contains the source; "" if there is none.
        ref: commit, tag or branch of a git repository.
        suites: Debian suites that contain the package.
    """

    kind: Literal["tarball", "git", "tree", "image"]
    path: Path
    package: str = ""
    ref: str = ""
    suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """A base with the paths of its files resolved.

    Args:
        folder: folder with the patches. It is the folder of base.yaml or, if the key `like` names a
            base, the folder of that base.
        both: name of the folder in which lessons store instrumentation patches for this base.
        fragments: config files in order; later files override earlier files.
        lenient: whether config options that the source lacks are left out.
        since: the oldest series whose kernels from elsewhere are configured like this base.
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
    since: str = ""

    @property
    def package(self) -> str:
        """Name of the source in paths and manifests: its Debian package, or linux-NAME."""
        return self.source.package or f"linux-{self.name}"

    @property
    def tarball(self) -> Path:
        """Path of the source, which is a tarball or a folder."""
        return self.source.path

    def config(self, variant: str | None) -> tuple[Path, ...]:
        """Return a variant's config fragments; None means the base's own configuration.

        Raises:
            InputError: the base has no such variant.
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
    """Return the folder of each base by name. The checkout takes precedence over DUET_LESSONS."""
    tops = (patches_dir, *(folder / "kernel-patches" for folder in extra_lessons()))
    found: dict[str, Path] = {}
    for top in tops:
        for path in sorted((top / BASES).glob(f"*/{FILE}")):
            found.setdefault(path.parent.name, path.parent)
    return found


def find_base(name: str | None, patches_dir: Path) -> Base:
    """Return the base with the given name or path; None means the default base.

    Raises:
        InputError: there is no such base, or its file is invalid.
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
        remedy=f"Choose from: {', '.join(known)}, or name a folder that has a {FILE}.",
    )


def _default(known: Mapping[str, Path], patches_dir: Path) -> Base:
    marked = [folder for folder in known.values() if _parsed(folder).default]
    own = [folder for folder in marked if folder.is_relative_to(patches_dir)]
    if len(own) != 1:
        raise InputError(
            f"wanted exactly one base in {patches_dir / BASES} with `default: true`, but found "
            f"{len(own)}.",
            remedy=f"Write `default: true` into exactly one {FILE} there.",
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
            said.since or said.series,
        )
    both = BOTH if said.default else f"{BOTH}-{folder.name}"
    fragments = tuple(folder / name for name in said.config)
    if not fragments:
        raise _wrong(
            folder,
            "config",
            "this key is missing",
            "Name a config fragment, or add the key `like`.",
        )
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
        said.since or said.series,
    )


def _like(folder: Path, name: str, patches_dir: Path) -> Base:
    """Return the base that `like` names, after checking that it has patches."""
    there = base_folders(patches_dir).get(name)
    if there is not None and (there == folder or _parsed(there).like is not None):
        sentence = f"'{name}' has no patches: it is this base, or uses another base's"
        raise _wrong(folder, "like", sentence, "Name a base without the key `like`.")
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
        sentence = f"wanted one of {', '.join(kinds)}, but found {len(named)}"
        raise _wrong(folder, "source", sentence, "Name one source.")
    kind, path = named[0]
    ref = said.ref if kind == "git" else ""
    return Source(kind, folder / Path(path).expanduser(), said.package, ref, said.suites)


_parsed_files: dict[Path, tuple[tuple[int, int], BaseFile]] = {}


def _parsed(folder: Path) -> BaseFile:
    """Parse base.yaml; cached until its size or mtime changes."""
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
            remedy = "See kernel-patches/README.md for the keys of a base."
            problem = Problem(name, document.line(place), key_of(place), sentence, remedy)
            raise LessonError([problem]) from error
        _parsed_files[path] = known
    return known[1]


def _wrong(folder: Path, key: str, sentence: str, remedy: str) -> LessonError:
    name = f"{BASES}/{folder.name}/{FILE}"
    line = read(folder / FILE, name).line((key,))
    return LessonError([Problem(name, line, key, sentence, remedy)])


# Options that a guest requires for booting, for its ports or for tracing.
#
# A `lenient` base may lack any other option of its config, unless --config requests the option.

ASKED = "asked.config"
"""Config fragment with the options of --config."""
OF_TOOLS = re.compile(
    r"CONFIG_(?:CC|GCC\d*|CLANG|AS|LD|LLD|PAHOLE|RUSTC|BINDGEN|TOOLS_SUPPORT)_|CONFIG_BUILD_SALT$"
)
"""Options that Kconfig derives from the compiler and linker of this machine."""
NEEDED = frozenset(
    f"CONFIG_{name}"
    for name in (
        # The machine: x86-64 under QEMU, its console and its initramfs.
        *("64BIT", "SMP", "ACPI", "PCI", "BLK_DEV_INITRD", "TTY", "PRINTK"),
        *("SERIAL_8250", "SERIAL_8250_CONSOLE"),
        # Drivers for the agent's ports and the scratch disks.
        *("VIRTIO_PCI", "VIRTIO_CONSOLE", "VIRTIO_BLK"),
        # Kernel features that init, busybox and the agent use.
        *("BINFMT_ELF", "BINFMT_SCRIPT", "MULTIUSER", "PROC_FS", "SYSFS", "TMPFS", "SHMEM"),
        *("DEVTMPFS", "FUTEX", "EPOLL", "SIGNALFD", "TIMERFD", "EVENTFD", "POSIX_TIMERS"),
        # Support for trace events and kprobes.
        *("FTRACE", "FUNCTION_TRACER", "DYNAMIC_FTRACE", "KPROBES", "KPROBE_EVENTS", "KALLSYMS"),
        # Options for correct addresses in System.map, and for reading the kernel with drgn.
        *("RANDOMIZE_BASE", "JUMP_LABEL", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"),
    )
)
