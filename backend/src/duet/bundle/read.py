# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a bundle that may come from anywhere: every size, name and sum is checked first."""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from duet.bundle import limits
from duet.bundle.manifest import FORMAT, Manifest
from duet.bundle.record import Record
from duet.bundle.stream import check_stream, unpack_stream
from duet.bundle.upgrade import upgrade
from duet.errors import InputError

MEMBER = re.compile(
    r"(?:manifest\.json|lanes/[a-z0-9][a-z0-9_-]{0,39}/stream\.bin"
    r"|patches/[A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
UNPACKERS = 4
"""Lanes that are unpacked at once; beyond the host's CPUs they take turns."""
REMEDY = "Get the file anew, or record it again with ./duet record."
BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, struct.error, MemoryError),
    *(NotImplementedError, RuntimeError, ValueError, IndexError, OverflowError),
)
"""What zipfile raises where a field of the file is not what it should be."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle; everything in it has been checked.

    Args:
        manifest: as today's format has it.
        format: as the file has it.
        packed: member -> its bytes in the file.
        file_bytes: of all of it.
    """

    manifest: Manifest
    format: int
    packed: dict[str, int]
    file_bytes: int
    _members: dict[str, bytes]

    def records(self, arm: str) -> Iterator[Record]:
        """The transcript of one lane.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        name = f"lanes/{arm}/stream.bin"
        return unpack_stream(self._members[name], name)

    def stream_bytes(self, arm: str) -> int:
        """The size of one lane's transcript, heads of records included.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        return len(self._members[f"lanes/{arm}/stream.bin"])

    def patch(self, name: str) -> bytes:
        """One patch file.

        Raises:
            InputError: there is no such patch.
        """
        found = self._members.get(f"patches/{name}")
        if found is None:
            raise InputError(f"the recording has no patch '{name:.60}'.", remedy=REMEDY)
        return found

    @property
    def patches(self) -> tuple[str, ...]:
        """Names of the patch files."""
        start = "patches/"
        return tuple(name.removeprefix(start) for name in self._members if name.startswith(start))


def open_bundle(path: Path) -> Bundle:
    """Open and check a bundle.

    Raises:
        InputError: it is missing, no bundle, too large, too new, or not what its sums say.
    """
    with _archive(path) as archive:
        return _read(path, archive)


def read_manifest(path: Path) -> Manifest:
    """The manifest alone, without unpacking the lanes; good for a list, not for playing.

    Raises:
        InputError: likewise, as far as that shows.
    """
    with _archive(path) as archive:
        names = _check_members(path, archive)
        return _manifest(path, _unpack(path, archive, "manifest.json"), names)[0]


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The open zip file; whatever zipfile raises becomes a sentence."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "it is no file")  # a pipe would wait for ever
        if status.st_size > limits.FILE_BYTES:
            raise _refused(
                path, f"it has {status.st_size} bytes, and {limits.FILE_BYTES} are allowed"
            )
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise InputError(
            f"there is no recording {path.name}.", remedy="Make one with ./duet record."
        ) from error
    except zipfile.BadZipFile as error:
        raise _refused(path, f"it is no zip file ({_said(error)})") from error
    except BROKEN as error:
        raise _refused(path, f"it cannot be unpacked ({_said(error)})") from error


def _read(path: Path, archive: zipfile.ZipFile) -> Bundle:
    names = _check_members(path, archive)
    manifest, number = _manifest(path, _unpack(path, archive, "manifest.json"), names)

    def content_of(name: str) -> bytes:
        content = _unpack(path, archive, name)
        if hashlib.sha256(content).hexdigest() != manifest.sums[name]:
            raise _refused(path, f"{name} is not what its checksum says")
        if name.startswith("lanes/"):
            check_stream(content, name)
        return content

    # Unpacking frees the interpreter lock; the first member that is broken is told, as in a row.
    with ThreadPoolExecutor(UNPACKERS) as pool:
        contents = dict(zip(manifest.sums, pool.map(content_of, manifest.sums), strict=True))
    packed = {member.filename: member.compress_size for member in archive.infolist()}
    return Bundle(manifest, number, packed, path.stat().st_size, contents)


def _check_members(path: Path, archive: zipfile.ZipFile) -> set[str]:
    """Names of all members; none is unpacked before all entries are in order."""
    members = archive.infolist()
    if len(members) > limits.MEMBERS:
        raise _refused(path, f"it has {len(members)} members, and {limits.MEMBERS} are allowed")
    for member in members:
        _check_member(path, member)
    names = {member.filename for member in members}
    if len(names) != len(members):
        raise _refused(path, "a member occurs twice")
    total = sum(member.file_size for member in members)
    if total > limits.TOTAL_BYTES:
        raise _refused(path, f"unpacked it has {total} bytes, and {limits.TOTAL_BYTES} are allowed")
    if "manifest.json" not in names:
        raise _refused(path, "it has no manifest.json")
    return names


def _check_member(path: Path, member: zipfile.ZipInfo) -> None:
    name = member.filename
    if not MEMBER.fullmatch(name):
        raise _refused(path, f"it has a member of the odd name {name[:80]!r}")
    most = limits.STREAM_BYTES if name.startswith("lanes/") else limits.PATCH_BYTES
    if name == "manifest.json":
        most = limits.MANIFEST_BYTES
    if member.file_size > most:
        raise _refused(path, f"{name} has {member.file_size} bytes, and {most} are allowed")
    if limits.RATIO_FROM < member.file_size > limits.RATIO * member.compress_size:
        raise _refused(path, f"{name} would grow more than {limits.RATIO} times when unpacked")
    if member.compress_type not in METHODS or member.flag_bits & 1:
        raise _refused(path, f"{name} is packed or locked in an unknown way")


def _unpack(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Never more bytes than the member's entry says."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        content = member.read(size)
        if len(content) != size or member.read(1):
            raise _refused(path, f"{name} does not have the {size} bytes that it should")
    return content


def _manifest(path: Path, text: bytes, names: set[str]) -> tuple[Manifest, int]:
    """The manifest as today's format has it, and the number that the file has.

    Args:
        names: of all members; the manifest must speak of each.
    """
    try:
        tree = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"manifest.json is not JSON ({_said(error)})") from error
    number = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise InputError(
            f"the recording {path.name} has format {str(number)[:20]}, "
            f"and this program knows {FORMAT}.",
            remedy="Use a newer Kernel Duet.",
        )
    try:
        manifest = Manifest.model_validate(upgrade(tree) if isinstance(tree, dict) else tree)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"manifest.json: {_plain(place)}: {first['msg']}") from error
    arms = [arm.name for arm in manifest.arms]
    if len(set(arms)) != len(arms):
        raise _refused(path, "manifest.json: a lane is named twice")
    wanted = {f"lanes/{arm}/stream.bin" for arm in arms}
    if missing := wanted - names:
        raise _refused(path, f"{min(missing)} is missing")
    members = names - {"manifest.json"}
    if odd := set(manifest.sums) ^ members:
        raise _refused(path, f"manifest and members disagree on {_plain(min(odd))}")
    return manifest, number if isinstance(number, int) else FORMAT


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    """1e999 is valid JSON, and Python reads it as infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _said(error: Exception) -> str:
    """What a library says of the file; it may quote a name of 65,535 bytes."""
    return _plain(str(error) or type(error).__name__, most=160)


def _plain(text: str, most: int = 80) -> str:
    """A name out of the file, as it may stand in a sentence on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def _refused(path: Path, why: str) -> InputError:
    return InputError(f"the recording {path.name} cannot be used: {why}.", remedy=REMEDY)
