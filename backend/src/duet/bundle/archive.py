# SPDX-License-Identifier: GPL-2.0-or-later
"""The zip file of a recording from anywhere: every size, name and sum is checked. No paths.

Runs in a confined child (`unpack`); `manifest_of` is also what the server does with the text.
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

# Bounds of a bundle, checked before anything is unpacked.

FILE_BYTES = 256 << 20
"""The zip itself."""
MANIFEST_BYTES = 1 << 20
STREAM_BYTES = 512 << 20
"""One lane, unpacked."""
PATCH_BYTES = 1 << 20
TOTAL_BYTES = 1 << 30
"""All members, unpacked."""
RATIO = 1000
"""Unpacked over packed, of a member above RATIO_FROM; real lanes reach a tenth of that."""
RATIO_FROM = 16 << 20
MEMBERS = 64
RECORD_BYTES = 8 << 20
STREAMS = 64
"""CPU numbers below this."""


# stream.bin of a lane: records behind one another, in the form of every recording (FORMAT.md).

HEAD = struct.Struct("<QhHI")
"""host_ns u64, stream i16, pad u16, length u32."""


def pack_stream(records: Iterable[Record]) -> bytes:
    """Records as bytes; long ones are split, which a byte stream does not notice."""
    parts: list[bytes] = []
    for host_ns, stream, payload in records:
        for at in range(0, len(payload), RECORD_BYTES):
            piece = payload[at : at + RECORD_BYTES]
            parts += (HEAD.pack(host_ns, stream, 0, len(piece)), piece)
    return b"".join(parts)


def read_stream(file: BinaryIO, size: int, name: str) -> Iterator[Record]:
    """The records of a lane, read one by one.

    Args:
        size: bytes from where the file stands to its lane's end.

    Raises:
        InputError: a record is cut off or has an impossible head; names the byte.
    """
    for host_ns, number, length in _heads(file, size, name):
        yield Record(host_ns, number, file.read(length))


def check_stream(file: BinaryIO, size: int, name: str) -> None:
    """Look at all heads.

    Raises:
        InputError: as for `read_stream`.
    """
    for _, _, length in _heads(file, size, name):
        file.seek(length, io.SEEK_CUR)


def _heads(file: BinaryIO, size: int, name: str) -> Iterator[tuple[int, int, int]]:
    """Per record: host time, stream and length of its payload, where the file stands then."""
    at = 0
    while at < size:
        start = at + HEAD.size
        if size < start:
            raise _broken(name, at, f"a record head lacks {start - size} bytes")
        host_ns, number, _, length = HEAD.unpack(file.read(HEAD.size))
        if not LENS <= number < STREAMS:
            raise _broken(name, at, f"there is no stream {number}")
        if length > RECORD_BYTES:
            raise _broken(name, at, f"a record of {length} bytes is too long")
        at = start + length
        if at > size:
            raise _broken(name, start - HEAD.size, f"a record lacks {at - size} of {length} bytes")
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
"""Lanes that are unpacked at once; beyond the host's CPUs they take turns."""
PIECE_BYTES = 1 << 20
MOST_DIGITS = 40
REMEDY = "Get the file anew, or record it again with ./duet record."
BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, struct.error, MemoryError),
    *(NotImplementedError, RuntimeError, ValueError, IndexError, OverflowError),
)
"""What zipfile raises where a field of the file is not what it should be."""


class Archive:
    """An open recording.

    Args:
        name: of the file, for sentences.
        most_bytes: of all members, unpacked.
    """

    def __init__(self, name: str, archive: zipfile.ZipFile, most_bytes: int) -> None:
        self._name, self._zip, self._most = name, archive, most_bytes
        self.names = self._checked()
        self.packed = {member.filename: member.compress_size for member in archive.infolist()}
        """Member -> its bytes in the file."""

    def text(self) -> bytes:
        """manifest.json.

        Raises:
            InputError: it is not what its entry says.
        """
        return b"".join(self._pieces("manifest.json"))

    def unpack(self, manifest: Manifest, scratch: int) -> dict[str, tuple[int, int]]:
        """Write all members behind one another: member -> offset and length.

        Args:
            scratch: a descriptor.

        Raises:
            InputError: a member is not what its sum says.
            InfraError: there is no room for it.
        """
        places, at = {}, 0
        for name in manifest.sums:
            size = self._zip.getinfo(name).file_size
            places[name] = (at, size)
            at += size

        def one(name: str) -> None:
            self._copy(name, manifest.sums[name], scratch, places[name][0])
            if name.startswith("lanes/"):
                check_stream(part(scratch, *places[name]), places[name][1], name)

        # Unpacking frees the interpreter lock; the first broken member is reported.
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
            raise refused(self._name, f"{name} is not what its checksum says")

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Never more bytes than the member's entry says."""
        size = left = self._zip.getinfo(name).file_size
        with self._zip.open(name) as member:
            while piece := member.read(min(left, PIECE_BYTES) or 1):
                left -= len(piece)
                if left < 0:
                    break
                yield piece
        if left:
            raise refused(self._name, f"{name} does not have the {size} bytes that it should")

    def _checked(self) -> set[str]:
        """Names of all members; none is unpacked before all entries are in order."""
        members = self._zip.infolist()
        if len(members) > MEMBERS:
            raise refused(self._name, f"it has {len(members)} members, and {MEMBERS} are allowed")
        for member in members:
            self._check_member(member)
        names = {member.filename for member in members}
        if len(names) != len(members):
            raise refused(self._name, "a member occurs twice")
        total = sum(member.file_size for member in members)
        if total > self._most:
            raise refused(
                self._name, f"unpacked it has {total} bytes, and {self._most} are allowed"
            )
        if "manifest.json" not in names:
            raise refused(self._name, "it has no manifest.json")
        return names

    def _check_member(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        if not MEMBER.fullmatch(name):
            raise refused(self._name, f"it has a member of the odd name {name[:80]!r}")
        most = STREAM_BYTES if name.startswith("lanes/") else PATCH_BYTES
        if name == "manifest.json":
            most = MANIFEST_BYTES
        if member.file_size > most:
            raise refused(
                self._name, f"{name} has {member.file_size} bytes, and {most} are allowed"
            )
        if RATIO_FROM < member.file_size > RATIO * member.compress_size:
            raise refused(self._name, f"{name} would grow more than {RATIO} times when unpacked")
        if member.compress_type not in METHODS or member.flag_bits & 1:
            raise refused(self._name, f"{name} is packed or locked in an unknown way")


@contextmanager
def opened(name: str, fd: int, most_bytes: int) -> Iterator[Archive]:
    """The recording behind a descriptor; whatever zipfile raises becomes a sentence.

    Raises:
        InputError: it is no recording.
    """
    try:
        with os.fdopen(os.dup(fd), "rb") as file, zipfile.ZipFile(file) as archive:
            yield Archive(name, archive, most_bytes)
    except zipfile.BadZipFile as error:
        raise refused(name, f"it is no zip file ({_said(error)})") from error
    except BROKEN as error:
        raise refused(name, f"it cannot be unpacked ({_said(error)})") from error


class _Part(io.RawIOBase):
    """A part of a file, read without moving the descriptor that others read, too."""

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


def part(fd: int, at: int, size: int) -> BinaryIO:
    """A part of a file, buffered."""
    return io.BufferedReader(_Part(fd, at, size), PIECE_BYTES)


def manifest_of(file: str, text: bytes, names: set[str]) -> Manifest:
    """The manifest, checked.

    Args:
        file: name of the recording.
        names: of all members; the manifest must speak of each.

    Raises:
        InputError: it is no manifest, one of another format, or speaks of other members.
    """
    try:
        tree = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise refused(file, f"manifest.json is not JSON ({_said(error)})") from error
    number = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(number, int) and number != FORMAT:
        newer = number > FORMAT
        raise InputError(
            f"the recording {file} has format {str(number)[:20]}, and this program reads format "
            f"{FORMAT} alone.",
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
        raise refused(file, f"manifest and members disagree on {printable(min(odd)[:80])}")
    return manifest


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    """1e999 is valid JSON, and Python reads it as infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _whole(text: str) -> int:
    """No number of a recording has more digits, and a long one has no float."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:40]} is too large a number")
    return int(text)


def _said(error: Exception) -> str:
    """What a library says of the file; it may quote a name of 65,535 bytes."""
    return printable((str(error) or type(error).__name__)[:160])


def refused(file: str, why: str) -> InputError:
    return InputError(f"the recording {file} cannot be used: {why}.", remedy=REMEDY)


def _no_room(error: OSError) -> InfraError:
    return InfraError(
        f"the recording cannot be unpacked into a temporary file: {error.strerror}.",
        remedy="Make room in the folder for temporary files, or name another with TMPDIR.",
    )
