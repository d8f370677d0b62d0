# SPDX-License-Identifier: GPL-2.0-or-later
"""Remembers good verdicts between runs of `duet lint`, in the folder `lint` of the cache.

A lint decodes all recordings, compiles all workloads and reads all built kernels, which takes ten
seconds. None of this needs to be done twice. The lint has one part per lesson, and a REST. A part
without a problem is remembered in a file whose name is a digest of all that the part reads in the
checkout: the lesson's files and recordings, its patches, files that lessons share, the program
itself, and the environment. The digest covers contents, not times. The file lists what the part
uses outside the checkout (kernels in the cache, kernel sources, compilers and headers), with the
stamps (duet.base.files) at the time of the check. The part is checked again if its digest has no
file, or if a stamp differs.

This module imports nothing slow, because the lint needs no other module if all parts are
remembered.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from duet.base import files
from duet.base.settings import cache_dir, default_base, default_source, extra_lessons, repo_root
from duet.lessons.folders import LessonPaths, places
from duet.lint.result import Result, Verdict

REST: Final = ""
"""The part with the rules of plug-ins, the search in generic code, and the schemas for editors."""
CLOCK_NS: Final = 100_000_000
"""How far the clock of a file system may lag behind the clock that time.time_ns() reads."""
MOST_FILES: Final = 128
"""Number of verdicts that are kept, the newest ones."""
ENVIRONMENT: Final = ("CC", "HOME", "PATH", "PYTHONPATH", "XDG_CACHE_HOME")
"""Variables that affect verdicts, in addition to all that begin with DUET_."""
GENERATED: Final = ("__pycache__", "node_modules")
PROGRAM: Final = Path(__file__).resolve().parents[1]
SHARED: Final = ("lessons", "kernel-patches", "vm-images/root")
"""Folders of the checkout of which each lesson's part reads all but other lessons' folders."""
GENERIC: Final = ("backend/src/duet", "frontend/src", "labs")
"""Folders of the checkout that only the REST reads."""
LIBRARIES: Final = "*/libtraceevent.so*"
"""Libraries below /usr/lib that decode recordings."""


class Memory:
    """The parts of one lint that need not be checked again.

    Args:
        slugs: the lessons of the lint, which must exist.
        schemas: whether the REST includes the schemas for editors.
    """

    def __init__(self, slugs: Sequence[str], *, schemas: bool) -> None:
        self._slugs, self._schemas = tuple(slugs), schemas
        self._folder = cache_dir() / "lint"
        self._began_ns = time.time_ns()
        # Only contents of the checkout have digests. A base or source elsewhere has none.
        self._usable = default_base() is None and default_source() is None
        self._keys = self._digests()
        self._known: dict[str, tuple[str, ...] | None] = {}

    def result(self) -> Result | None:
        """Return the result if all parts are remembered, otherwise None."""
        left: dict[str, None] = {}
        for part in (*self._slugs, REST):
            if (known := self.recall(part)) is None:
                return None
            left |= dict.fromkeys(f"{part}: {sentence}" for sentence in known)
        return Result(self._slugs, (), tuple(left))

    def recall(self, part: str) -> tuple[str, ...] | None:
        """Return the reasons for skipped checks of a part without problems.

        Return None if the part must be checked.
        """
        if part not in self._known:
            self._known[part] = self._read(part) if self._usable else None
        return self._known[part]

    def remember(self, part: str, verdict: Verdict) -> None:
        """Remember a verdict, if it has no problem and nothing has changed since this lint began.

        Nothing happens if the cache folder cannot be written.
        """
        if verdict.problems or not (self._usable and verdict.lasting and verdict.readable):
            return
        stamps = (stamp for stamp in verdict.outside.values() if stamp is not None)
        if any(mtime_ns >= self._began_ns - CLOCK_NS for _, _, mtime_ns in stamps):
            return
        if _read_machine() != _machine() or self._digests()[part] != self._keys[part]:
            return
        tree = {"not_checked": verdict.not_checked, "outside": verdict.outside}
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            files.write(self._path(part), json.dumps(tree).encode())
            self._remove_oldest()

    def _path(self, part: str) -> Path:
        return self._folder / f"{self._keys[part]}.json"

    def _read(self, part: str) -> tuple[str, ...] | None:
        path = self._path(part)
        try:
            if path.stat().st_uid != os.geteuid():
                return None
            tree = json.loads(path.read_bytes())
            same = all(
                files.stamp(name) == (None if stamp is None else tuple(stamp))
                for name, stamp in tree["outside"].items()
            )
            return tuple(map(str, tree["not_checked"])) if same else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _remove_oldest(self) -> None:
        found = [(path.stat().st_mtime_ns, path) for path in self._folder.glob("*.json")]
        for _, path in sorted(found)[:-MOST_FILES]:
            path.unlink(missing_ok=True)

    def _digests(self) -> dict[str, str]:
        """Return the digest of each part's inputs."""
        known = places()
        common = [*_machine(), *_shared(known)]
        keys = {slug: _digest([slug, *common, *_lesson(known[slug])]) for slug in self._slugs}
        root = repo_root()
        rest = [f"{self._schemas} {self._slugs}", *common]
        rest += [part for one in known.values() for part in _lesson(one)]
        rest += [_tree(root / name) for name in GENERIC]
        return {**keys, REST: _digest(rest)}


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _lesson(place: LessonPaths) -> list[str]:
    return [_tree(place.folder), _tree(place.patch_dir)]


def _shared(known: Mapping[str, LessonPaths]) -> Iterator[str]:
    """Yield what each lesson's part reads besides its own folders.

    A guest has the programs of all lessons.
    """
    for slug, place in known.items():
        programs = sorted(path.name for path in (place.folder / "workload").glob("*"))
        yield f"{slug} {place.folder} {place.patch_dir} {programs}"
    for root in (repo_root(), *extra_lessons()):
        for name in SHARED:
            yield _tree(root / name, without=frozenset(known))


@cache
def _machine() -> tuple[str, ...]:
    """Return the program and its environment when the process began; see _read_machine."""
    return _read_machine()


def _read_machine() -> tuple[str, ...]:
    """Return what all verdicts rest on: environment, Python, packages, libraries, and program."""
    names = sorted({*ENVIRONMENT, *(name for name in os.environ if name.startswith("DUET_"))})
    packages = [path.name for path in Path(sysconfig.get_path("purelib")).glob("*.dist-info")]
    libraries = sorted(Path("/usr/lib").glob(LIBRARIES))
    return (
        *(f"{name}={os.environ.get(name)}" for name in names),
        f"{sys.version} {sys.prefix} {platform.machine()}",
        " ".join(sorted(packages)),
        f"{[(str(path), files.stamp(path)) for path in libraries]}",
        _tree(PROGRAM),
    )


def _tree(folder: Path, without: frozenset[str] = frozenset()) -> str:
    """Digest the names and contents of all files in a folder; "" if there is no such folder.

    Args:
        without: names in the folder itself that are left out.
    """
    return _tree_digest(str(folder), without, ()).hex()


def _tree_digest(folder: str, without: frozenset[str], above: tuple[tuple[int, int], ...]) -> bytes:
    """Digest a folder as `_tree` does.

    Args:
        above: device and inode of the folders above, to which a link may lead back.
    """
    try:  # pathlib would double the time of this function
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        status = os.stat(folder)  # noqa: PTH116
    except OSError:
        return b""
    here = (*above, (status.st_dev, status.st_ino))
    digest = hashlib.sha256()
    for entry in entries:
        if entry.name in GENERATED or entry.name in without:
            continue
        if not entry.is_dir():
            content = _content(entry.path)
        elif entry.is_symlink() and _identity(entry) in here:
            content = b"a link to a folder above"
        else:
            content = _tree_digest(entry.path, frozenset(), here)
        name = entry.name.encode(errors="surrogateescape")
        digest.update(b"%s\0%d\0%s" % (name, len(content), content))
    return digest.digest()


def _identity(entry: os.DirEntry[str]) -> tuple[int, int]:
    status = entry.stat()
    return status.st_dev, status.st_ino


def _content(path: str) -> bytes:
    """Return the digest of a file's content and whether it is executable; b"" if it is no file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        with open(fd, "rb", buffering=0) as file:  # noqa: PTH123
            executable = os.fstat(fd).st_mode & 0o100
            return hashlib.file_digest(file, "sha256").digest() + bytes([executable])
    except OSError:
        return b""
