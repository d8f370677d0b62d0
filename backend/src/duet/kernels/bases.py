# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel bases: what arms are patches on. A base is a folder with base.yaml, found by looking.

They lie in kernel-patches/bases of the checkout and of each folder that DUET_LESSONS names; a
base.yaml anywhere else is named by its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from duet.errors import InputError
from duet.kernels.base_file import BaseFile, SourceFile
from duet.lessons.document import read
from duet.lessons.meant import meant
from duet.lessons.problems import LessonError, Problem, key_of
from duet.settings import extra_lessons

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
        lenient: options that the source does not have are left out (needed.py).
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
