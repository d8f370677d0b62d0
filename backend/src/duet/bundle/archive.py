# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the zip file of an untrusted recording, and check every size, name and checksum.

This module runs in a sandboxed child (service `unpack`), which gets file descriptors instead of
paths. In the server only `parse_manifest` runs, on the text that the child returns.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import BinaryIO

from pydantic import ValidationError

from duet.base.errors import InfraError, InputError, printable
from duet.bundle.manifest import FORMAT, LENS, Manifest, Record

# Limits of a bundle, checked before anything is unpacked.

FILE_BYTES = 256 << 20
"""Largest accepted size of the zip file."""
MANIFEST_BYTES = 1 << 20
STREAM_BYTES = 512 << 20
"""Largest accepted size of one unpacked lane."""
PATCH_BYTES = 1 << 20
TOTAL_BYTES = 1 << 30
"""Largest accepted total size of all unpacked members."""
RATIO = 1000
"""Largest accepted compression ratio of a member that is larger than RATIO_FROM bytes. Real lanes
reach a tenth of this ratio."""
RATIO_FROM = 16 << 20
MEMBERS = 64
RECORD_BYTES = 8 << 20
STREAMS = 64
"""CPU numbers must be below this number."""


# A lane's stream.bin, which is a sequence of records (FORMAT.md).

HEAD = struct.Struct("<QhHI")
"""Header of a record: host_ns u64, stream i16, padding u16, length u32."""


def pack_stream(records: Iterable[Record]) -> bytes:
    """Pack records into bytes. Long records are split, which does not change the byte stream."""
    parts: list[bytes] = []
    for host_ns, stream, payload in records:
        for at in range(0, len(payload), RECORD_BYTES):
            piece = payload[at : at + RECORD_BYTES]
            parts += (HEAD.pack(host_ns, stream, 0, len(piece)), piece)
    return b"".join(parts)


def read_stream(file: BinaryIO, size: int, name: str) -> Iterator[Record]:
    """Yield the records of a lane, one at a time.

    Args:
        size: number of bytes from the file's current position to the end of the lane.

    Raises:
        InputError: a record is cut off or has an invalid header; the error names the offset.
    """
    for host_ns, number, length in _heads(file, size, name):
        yield Record(host_ns, number, file.read(length))


def check_stream(file: BinaryIO, size: int, name: str) -> None:
    """Check the headers of all records.

    Raises:
        InputError: as for `read_stream`.
    """
    for _, _, length in _heads(file, size, name):
        file.seek(length, io.SEEK_CUR)


def _heads(file: BinaryIO, size: int, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield (host time, stream, payload length) per record; the file is then at the payload."""
    at = 0
    while at < size:
        start = at + HEAD.size
        if size < start:
            raise _broken(name, at, f"a record header is {start - size} bytes too short")
        host_ns, number, _, length = HEAD.unpack(file.read(HEAD.size))
        if not LENS <= number < STREAMS:
            raise _broken(name, at, f"stream number {number} is invalid")
        if length > RECORD_BYTES:
            raise _broken(name, at, f"a record of {length} bytes is too long")
        at = start + length
        if at > size:
            raise _broken(
                name,
                start - HEAD.size,
                f"the stream ends {at - size} bytes before the end of a {length}-byte record",
            )
        yield host_ns, number, length


def _broken(name: str, at: int, what: str) -> InputError:
    return InputError(
        f"{name} of the recording is broken at byte {at}: {what}.",
        remedy="Get the file anew, or record it again.",
    )


MEMBER = re.compile(
    r"(?:manifest\.json|lanes/[a-z0-9][a-z0-9_-]{0,39}/stream\.bin"
    r"|patches/[A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
UNPACKERS = 4
"""Number of members that are unpacked in parallel."""
PIECE_BYTES = 1 << 20
MOST_DIGITS = 40
REMEDY = "Get the file anew, or record it again with ./duet record."
BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, struct.error, MemoryError),
    *(NotImplementedError, RuntimeError, ValueError, IndexError, OverflowError),
)
"""Exceptions that zipfile raises for an invalid field in the file."""


class Archive:
    """An open recording whose entries have been checked.

    Args:
        name: file name that errors show.
        most_bytes: largest accepted unpacked size of all members together.

    Raises:
        InputError: an entry has an invalid name, size or method.
    """

    def __init__(self, name: str, archive: zipfile.ZipFile, most_bytes: int) -> None:
        self._name, self._zip, self._most = name, archive, most_bytes
        self.names = self._checked()
        self.packed = {member.filename: member.compress_size for member in archive.infolist()}
        """Member -> compressed size."""

    def text(self) -> bytes:
        """Return the content of manifest.json.

        Raises:
            InputError: its size differs from the size in its zip entry.
        """
        return b"".join(self._pieces("manifest.json"))

    def unpack(self, manifest: Manifest, scratch: int) -> dict[str, tuple[int, int]]:
        """Unpack all members into one file; return offset and length of each member.

        Args:
            scratch: file descriptor of the file to write to.

        Raises:
            InputError: a member does not match its checksum or its zip entry.
            InfraError: no space is left.
        """
        places, at = {}, 0
        for name in manifest.sums:
            size = self._zip.getinfo(name).file_size
            places[name] = (at, size)
            at += size

        def one(name: str) -> None:
            self._copy(name, manifest.sums[name], scratch, places[name][0])
            if name.startswith("lanes/"):
                check_stream(open_part(scratch, *places[name]), places[name][1], name)

        # Unpacking releases the interpreter lock, so members are unpacked in parallel. The error of
        # the first broken member is raised.
        with ThreadPoolExecutor(UNPACKERS) as pool:
            for _ in pool.map(one, manifest.sums):
                pass
        return places

    def _copy(self, name: str, wanted: str, scratch: int, at: int) -> None:
        digest = hashlib.sha256()
        for piece in self._pieces(name):
            digest.update(piece)
            try:
                written = os.pwrite(scratch, piece, at)
            except OSError as error:
                raise _no_room(error) from error
            if written != len(piece):
                raise _no_room(OSError(28, "No space left on device"))
            at += written
        if digest.hexdigest() != wanted:
            raise refused(self._name, f"{name} does not match its checksum")

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Yield a member in pieces. Raise an error if its length differs from the length in its
        zip entry."""
        size = left = self._zip.getinfo(name).file_size
        with self._zip.open(name) as member:
            while piece := member.read(min(left, PIECE_BYTES) or 1):
                left -= len(piece)
                if left < 0:
                    break
                yield piece
        if left:
            raise refused(self._name, f"{name} does not have the expected {size} bytes")

    def _checked(self) -> set[str]:
        """Check all entries; return the names of the members."""
        members = self._zip.infolist()
        if len(members) > MEMBERS:
            raise refused(
                self._name, f"the file has {len(members)} members, but only {MEMBERS} are allowed"
            )
        for member in members:
            self._check_member(member)
        names = {member.filename for member in members}
        if len(names) != len(members):
            raise refused(self._name, "two members have the same name")
        total = sum(member.file_size for member in members)
        if total > self._most:
            raise refused(
                self._name,
                f"the file has {total} bytes when unpacked, but only {self._most} are allowed",
            )
        if "manifest.json" not in names:
            raise refused(self._name, "the zip file has no manifest.json")
        return names

    def _check_member(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        if not MEMBER.fullmatch(name):
            raise refused(self._name, f"a member has the invalid name {name[:80]!r}")
        most = STREAM_BYTES if name.startswith("lanes/") else PATCH_BYTES
        if name == "manifest.json":
            most = MANIFEST_BYTES
        if member.file_size > most:
            raise refused(
                self._name, f"{name} has {member.file_size} bytes, but only {most} are allowed"
            )
        if RATIO_FROM < member.file_size > RATIO * member.compress_size:
            raise refused(
                self._name, f"{name} would grow by a factor of more than {RATIO} when unpacked"
            )
        if member.compress_type not in METHODS or member.flag_bits & 1:
            raise refused(self._name, f"{name} is encrypted or has an unknown compression method")


@contextmanager
def open_archive(name: str, fd: int, most_bytes: int) -> Iterator[Archive]:
    """Open the recording on a file descriptor, and turn all zipfile exceptions into InputError.

    Raises:
        InputError: the file is not a recording.
    """
    try:
        with os.fdopen(os.dup(fd), "rb") as file, zipfile.ZipFile(file) as archive:
            yield Archive(name, archive, most_bytes)
    except zipfile.BadZipFile as error:
        raise refused(name, f"the file is not a zip file ({_said(error)})") from error
    except BROKEN as error:
        raise refused(name, f"the file cannot be unpacked ({_said(error)})") from error


class _Part(io.RawIOBase):
    """File object for a part of a file. It uses pread, because threads share the descriptor."""

    def __init__(self, fd: int, at: int, size: int) -> None:
        self._fd, self._start, self._end, self._at = fd, at, at + size, at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: self._start, io.SEEK_CUR: self._at, io.SEEK_END: self._end}[whence]
        self._at = base + offset
        return self._at - self._start

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        room = min(len(buffer), self._end - self._at)
        came = os.preadv(self._fd, [buffer[:room]], self._at) if room > 0 else 0
        self._at += came
        return came


def open_part(fd: int, at: int, size: int) -> BinaryIO:
    """Return a buffered reader for `size` bytes of a file, from offset `at`."""
    return io.BufferedReader(_Part(fd, at, size), PIECE_BYTES)


def parse_manifest(file: str, text: bytes, names: set[str]) -> Manifest:
    """Parse and check a manifest.

    Args:
        file: name of the recording, which errors show.
        names: all members of the zip file; the manifest must have a checksum for each.

    Raises:
        InputError: the manifest is malformed, has another format, or does not list exactly the
            members of the zip file.
    """
    try:
        tree = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise refused(file, f"manifest.json is not JSON ({_said(error)})") from error
    number = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(number, int) and number != FORMAT:
        newer = number > FORMAT
        raise InputError(
            f"the recording {file} has format {str(number)[:20]}, but this program reads only "
            f"format {FORMAT}.",
            remedy="Use a newer Kernel Duet." if newer else "Record it again with ./duet record.",
        )
    try:
        manifest = Manifest.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise refused(file, f"manifest.json: {printable(place[:80])}: {first['msg']}") from error
    arms = [arm.name for arm in manifest.arms]
    if len(set(arms)) != len(arms):
        raise refused(file, "manifest.json: a lane is named twice")
    wanted = {f"lanes/{arm}/stream.bin" for arm in arms}
    if missing := wanted - names:
        raise refused(file, f"{min(missing)} is missing")
    members = names - {"manifest.json"}
    if odd := set(manifest.sums) ^ members:
        raise refused(file, f"manifest and zip members disagree about {printable(min(odd)[:80])}")
    return manifest


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    """Parse a float; refuse 1e999, which is valid JSON but which Python parses as infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


def _whole(text: str) -> int:
    """Parse an integer; refuse an integer with too many digits for a float."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:40]} is too large")
    return int(text)


def _said(error: Exception) -> str:
    """Return a library's error text, shortened because it may quote a 65,535-byte name."""
    return printable((str(error) or type(error).__name__)[:160])


def refused(file: str, why: str) -> InputError:
    return InputError(f"the recording {file} cannot be used: {why}.", remedy=REMEDY)


def _no_room(error: OSError) -> InfraError:
    return InfraError(
        f"the recording cannot be unpacked into a temporary file: {error.strerror}.",
        remedy="Free some space in the folder for temporary files, or set TMPDIR to another "
        "folder.",
    )
