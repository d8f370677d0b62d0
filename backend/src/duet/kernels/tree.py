# SPDX-License-Identifier: GPL-2.0-or-later
"""The one work tree that all arms are built in, and switching it from one arm to the next.

make rebuilds what is newer than its object, so a switch writes only files whose content
differs and leaves every other mtime alone. The untouched original of each patched file is
kept aside *before* the file is first written; a killed switch therefore needs no log: what
the tree should be follows from the originals and the patches alone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from duet import durable
from duet.kernels.diff_form import read_diff
from duet.kernels.diff_names import PatchRefused
from duet.kernels.patching import apply_diff


class WorkTree:
    """An unpacked kernel at `folder`/src with originals of patched files in `folder`/pristine.

    A file that a patch creates has an original that says so: '<name>.absent'.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.src = folder / "src"
        self._pristine = folder / "pristine"

    def switch(self, patches: Sequence[Path]) -> list[str]:
        """Make the tree equal to the originals plus `patches`; returns the files written.

        Raises:
            PatchFails: naming patch, file and hunk; the tree is then unchanged.
            PatchRefused: a patch is not in the strict form, or leads out of the tree; as above.
        """
        changes = self.changes(patches)
        for name, content in changes.items():
            self._save_original(name)
            _write(self.src / name, content)
        return list(changes)

    def changes(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """What switch() would write, by name (None: no file). Raises as it does."""
        wanted = self._patched(patches)
        for name in self._seen() - wanted.keys():
            wanted[name] = self._original(name)
        return {
            name: content
            for name, content in sorted(wanted.items())
            if _content(self.src / name) != content
        }

    def texts(self, patches: Sequence[Path], names: Iterable[str]) -> dict[str, str]:
        """Files as they are with `patches`, wherever the tree stands; absent ones are left out.

        Raises:
            PatchFails, PatchRefused: as switch().
        """
        patched = self._patched(patches)
        found = {name: patched[name] if name in patched else self._original(name) for name in names}
        return {
            name: content.decode(errors="replace")
            for name, content in found.items()
            if content is not None
        }

    def objects(self) -> int:
        """How many objects are compiled already: kbuild keeps one .cmd file for each."""
        return sum(name.endswith(".o.cmd") for _, _, names in os.walk(self.src) for name in names)

    def reach(self, changed: Sequence[str]) -> int:
        """About how many objects a change of these files makes stale, from kbuild's records."""
        units = sum(name.endswith((".c", ".S")) for name in changed)
        headers = [name for name in changed if name.endswith(".h")]
        if not headers:
            return units
        return units + len(frozenset().union(*self.behind(headers).values()))

    def behind(self, names: Sequence[str]) -> dict[str, frozenset[str]]:
        """The objects made from each of these files; none where nothing is compiled yet."""
        found: dict[str, set[str]] = {name: set() for name in names}
        searched = {name: f" {name} ".encode() for name in names}
        for folder, _, entries in os.walk(self.src):
            for entry in entries:
                if not entry.endswith(".o.cmd"):
                    continue
                # Two kinds of line: 'source_X := mm/a.c' and '  include/linux/fs.h \\'.
                record = Path(folder, entry).read_bytes().replace(b"\n", b" ")
                for name, text in searched.items():
                    if text in record:
                        found[name].add(f"{folder}/{entry}")
        return {name: frozenset(objects) for name, objects in found.items()}

    def _patched(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """Files that the patches touch, with the content they should have (None: no file)."""
        # Bytes: a carriage return in a hunk is content.
        diffs = [(path.name, read_diff(path.read_bytes().decode())) for path in patches]
        names = {name for _, diff in diffs for one in diff for name in one.names}
        for name in sorted(names):
            _refuse_link(self.src, name)
        with tempfile.TemporaryDirectory(prefix="duet-patch-") as folder:
            scratch = Path(folder)
            for name in names:
                if (original := self._original(name)) is not None:
                    (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                    (scratch / name).write_bytes(original)
            for patch, diff in diffs:
                apply_diff(patch, diff, scratch)
            return {name: _content(scratch / name) for name in names}

    def _seen(self) -> set[str]:
        """Every file that some arm has patched in this tree so far."""
        if not self._pristine.is_dir():
            return set()
        pristine = (path for path in self._pristine.rglob("*") if path.is_file())
        names = (path.relative_to(self._pristine).as_posix() for path in pristine)
        return {name.removesuffix(".absent") for name in names if not name.endswith(".part")}

    def _original(self, name: str) -> bytes | None:
        if (self._pristine / f"{name}.absent").exists():
            return None
        pristine = _content(self._pristine / name)
        return pristine if pristine is not None else _content(self.src / name)

    def _save_original(self, name: str) -> None:
        """Put the original aside, complete or not at all."""
        pristine = self._pristine / name
        absent = self._pristine / f"{name}.absent"
        if pristine.exists() or absent.exists():
            return
        pristine.parent.mkdir(parents=True, exist_ok=True)
        source = self.src / name
        if not source.exists():
            absent.touch()
            return
        part = pristine.with_name(pristine.name + ".part")
        shutil.copyfile(source, part)
        durable.sync_file(part)
        part.rename(pristine)
        durable.sync_folder(pristine.parent)


def _refuse_link(src: Path, name: str) -> None:
    """No file is read or written through a symbolic link: it could lead out of the tree."""
    path = src
    for part in name.split("/"):
        path /= part
        if path.is_symlink():
            raise PatchRefused(
                f"the patch changes {name}, which is reached through a symbolic link of the tree.",
                remedy="Name the file itself, by the path without the link.",
            )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    part = path.with_name(f".{path.name}.duet")
    part.write_bytes(content)
    part.chmod(mode)
    part.rename(path)
