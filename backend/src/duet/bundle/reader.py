# SPDX-License-Identifier: GPL-2.0-or-later
"""Reader of untrusted bundles.

A sandboxed child checks every size, name and checksum, and unpacks the bundle into an unlinked
temporary file. So a 1 GB recording takes disk space, but no memory of the server.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import tempfile
import weakref
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from duet.base import budgets
from duet.base.budgets import FRAMES
from duet.base.errors import InfraError, InputError
from duet.base.files import Stamp, stamp
from duet.bundle import archive as limits
from duet.bundle.archive import (
    MEMBER,
    METHODS,
    REMEDY,
    open_archive,
    open_part,
    parse_manifest,
    read_stream,
    refused,
)
from duet.bundle.decoding import ConfinedDecoder
from duet.bundle.manifest import CTL, LENS, Manifest, Record
from duet.confine import Child, ChildLimits, ReplyReader
from duet.confine.messages import BadReply, as_integer, as_text
from duet.decode import CpuColumns
from duet.wire import (
    Ended,
    Frame,
    FrameReader,
    GuestFile,
    Hello,
    Line,
    PageSplitter,
    ProtocolError,
    decode_frame,
)

# Service that unpacks bundles in sandboxed children.

CODECS = ("cp437", "utf-8-sig", *(f"utf-{n}{end}" for n in (16, 32) for end in ("", "-le", "-be")))
"""Codecs for member names in old archives, and codecs that the json module may detect."""
Answer = tuple[Mapping[str, object], Sequence[bytes]]


def warm() -> None:
    """Load OpenSSL, the compression libraries and the codecs while files can still be opened.

    Also build the manifest's validator, so that no child spends the 10 ms that this takes.
    """
    Manifest.model_rebuild()
    hashlib.sha256(b"").hexdigest()
    for method in METHODS:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            archive.writestr("x", b"x" * 64)
        with zipfile.ZipFile(file) as archive:
            archive.read("x")
    for codec in CODECS:
        codecs.lookup(codec)


class UnpackService:
    """Service that checks a recording.

    If the request has a second file descriptor, the service also unpacks the recording.
    """

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Return the text of the manifest, and a row for each member.

        A row contains a member's name, its compressed size, its offset in the temporary file, and
        its unpacked size.

        Args:
            fds: the recording, and optionally the temporary file.
        """
        name = request["name"]
        with open_archive(name, fds[0], request["most_bytes"]) as archive:
            text = archive.text()
            manifest = parse_manifest(name, text, archive.names)
            places = archive.unpack(manifest, fds[1]) if len(fds) > 1 else {}
            rows = [
                [member, packed, *places.get(member, (0, 0))]
                for member, packed in archive.packed.items()
            ]
        return {"members": rows}, [text]


# The members of an opened bundle, in a temporary file.


class Unpacked:
    """Unpacked members of a bundle in an unlinked temporary file, which this object closes.

    Attributes:
        places: member -> offset and length.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        weakref.finalize(self, os.close, fd)
        self.places: dict[str, tuple[int, int]] = {}

    def records(self, name: str) -> Iterator[Record]:
        """Yield the records in a lane's member."""
        at, size = self.places[name]
        yield from read_stream(open_part(self._fd, at, size), size, name)

    def content(self, name: str) -> bytes:
        at, size = self.places[name]
        return os.pread(self._fd, size, at)


MANIFESTS: Final = 64
"""Number of manifests that a process keeps."""
ROW: Final = 4
"""Cells in a member's row: name, compressed size, offset and unpacked size."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle whose content has been checked.

    Args:
        packed: member -> compressed size.
        file_bytes: size of the file.
    """

    manifest: Manifest
    packed: dict[str, int]
    file_bytes: int
    _unpacked: Unpacked

    def records(self, arm: str) -> Iterator[Record]:
        """Return the transcript of one lane.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        name = f"lanes/{arm}/stream.bin"
        return self._unpacked.records(name)

    def stream_bytes(self, arm: str) -> int:
        """Return the size of one lane's transcript, including record headers.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        return self._unpacked.places[f"lanes/{arm}/stream.bin"][1]

    def patch(self, name: str) -> bytes:
        """Return the content of one patch file.

        Raises:
            InputError: there is no such patch.
        """
        if f"patches/{name}" not in self._unpacked.places:
            raise InputError(f"the recording has no patch '{name:.60}'.", remedy=REMEDY)
        return self._unpacked.content(f"patches/{name}")

    @property
    def patches(self) -> tuple[str, ...]:
        """Names of all patch files."""
        start = "patches/"
        members = self._unpacked.places
        return tuple(name.removeprefix(start) for name in members if name.startswith(start))


def open_bundle(path: Path) -> Bundle:
    """Open and check a bundle. Blocks for up to REQUEST_WAIT_S.

    Raises:
        InputError: the file is missing, damaged or too large, is not a bundle, or has another
            format.
        InfraError: there is too little disk space to unpack the bundle.
    """
    with _file(path) as file, _scratch() as scratch:
        manifest, reply = _check_in_child(path, (file, scratch))
        unpacked = Unpacked(os.dup(scratch))
        rows = reply.rows("members", ROW, limits.MEMBERS)
        packed = {_member(name): as_integer(size) for name, size, _, _ in rows}
        unpacked.places = {
            _member(name): (as_integer(at), as_integer(size, 0, limits.STREAM_BYTES))
            for name, _, at, size in rows
            if name != "manifest.json"
        }
        size = os.fstat(scratch).st_size
        if any(at + length > size for at, length in unpacked.places.values()):
            raise refused(path.name, "the members do not match their zip entries")
        return Bundle(manifest, packed, os.fstat(file).st_size, unpacked)


def read_manifest(path: Path) -> Manifest:
    """Read only the manifest, without unpacking or checking the lanes.

    The manifests of unchanged files are cached, because reading a manifest takes a process.

    Raises:
        InputError: as for `open_bundle`, but damage to members other than the manifest is not
            detected.
    """
    return _manifest(path, stamp(path))


@lru_cache(MANIFESTS)
def _manifest(path: Path, seen: Stamp | None) -> Manifest:
    """Read the manifest of a file that has the stamp `seen`."""
    del seen
    with _file(path) as file:
        return _check_in_child(path, (file,))[0]


def _check_in_child(path: Path, fds: tuple[int, ...]) -> tuple[Manifest, ReplyReader]:
    """Let a child check the first file, and unpack its members into the second file, if any."""
    terms = ChildLimits(
        f"the recording {path.name}", remedy=REMEDY, file_bytes=limits.TOTAL_BYTES,
        request_cpu_s=budgets.RECORDING_CPU_S,
    )  # fmt: skip
    child = Child("unpack", terms, fds)
    try:
        reply = child.call({"name": path.name, "most_bytes": limits.TOTAL_BYTES})
        try:
            names = {_member(name) for name, *_ in reply.rows("members", ROW, limits.MEMBERS)}
            manifest = parse_manifest(path.name, bytes(reply.blob()), names)
        except (BadReply, TypeError) as error:
            raise child.reject_reply(error) from error
        return manifest, reply
    finally:
        child.close()


def _member(name: object) -> str:
    if not MEMBER.fullmatch(as_text(name)):
        raise BadReply("the name of a member is invalid")
    return str(name)


@contextmanager
def _file(path: Path) -> Iterator[int]:
    """Open a regular file of an allowed size."""
    try:
        # O_NONBLOCK is needed because opening a pipe without a writer would block forever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no recording {path.name}.", remedy="Make one with ./duet record."
        ) from error
    except (OSError, ValueError) as error:
        raise refused(path.name, f"the file cannot be read ({error})") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise refused(path.name, "the path is not a regular file")
        if status.st_size > limits.FILE_BYTES:
            raise refused(
                path.name,
                f"the file has {status.st_size} bytes, but only {limits.FILE_BYTES} are allowed",
            )
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _scratch() -> Iterator[int]:
    """Open an unlinked temporary file."""
    try:
        file = tempfile.TemporaryFile(prefix="duet-")  # noqa: SIM115 (closed by `with` below)
    except OSError as error:
        raise InfraError(
            f"no temporary file can be created: {error.strerror or error}.",
            remedy="Free some space in the folder for temporary files, or set TMPDIR to another "
            "folder.",
        ) from error
    with file:
        yield file.fileno()


# Parse a lane's transcript into frames, format files, pages and lens records.

DECODE_PAGES = 1024
"""Number of pages that are decoded at a time. Memory thus holds only part of a long lane's
columns."""


@dataclass(slots=True)
class LaneContents:
    """Parsed transcript of one lane.

    Args:
        frames: frames of the control port, in order.
        pages: CPU -> complete ring-buffer pages, in order.
        lens: payloads of lens records, in order.
        records: number of all records.
        stream_bytes: size of all payloads.
        rest_bytes: size of incomplete pages at the end.
    """

    arm: str
    frames: list[Frame] = field(default_factory=list)
    pages: dict[int, bytes] = field(default_factory=dict)
    lens: list[bytes] = field(default_factory=list)
    records: int = 0
    stream_bytes: int = 0
    rest_bytes: int = 0
    page_bytes: int = 4096

    @property
    def files(self) -> dict[str, bytes]:
        """Files from the guest's tracefs, by name."""
        return {f.name: f.content for f in self.frames if isinstance(f, GuestFile)}

    @property
    def facts(self) -> dict[str, str]:
        return next((f.facts for f in self.frames if isinstance(f, Hello)), {})

    @property
    def lines(self) -> list[Line]:
        """Output lines of the workload."""
        return [f for f in self.frames if isinstance(f, Line)]

    @property
    def status(self) -> int | None:
        """Exit status of the workload; None if it has not ended."""
        return next((f.status for f in self.frames if isinstance(f, Ended)), None)

    def decoder(self) -> ConfinedDecoder:
        """Start a decoder for this lane in a child process, which the caller must end.

        Raises:
            InputError: format files are missing or malformed; the error names the lane.
        """
        try:
            return ConfinedDecoder(self.files, self.page_bytes, f"lane {self.arm} of the recording")
        except InputError as error:
            raise self.broken(error) from error

    def decoded(self, decoder: ConfinedDecoder) -> Iterator[CpuColumns]:
        """Yield all events in parts, one CPU after another.

        Raises:
            InputError: a page is malformed; the error names lane, CPU and page.
        """
        size = DECODE_PAGES * self.page_bytes
        try:
            for cpu, pages in sorted(self.pages.items()):
                for at in range(0, len(pages), size):
                    yield decoder.decode(cpu, pages[at : at + size])
        except InputError as error:
            raise self.broken(error) from error

    def broken(self, error: InputError) -> InputError:
        if error.sentence.startswith(f"lane {self.arm} "):
            return error
        return InputError(
            f"lane {self.arm} of the recording is broken: {error.sentence}", remedy=error.remedy
        )


def read_lane(bundle: Bundle, arm: str) -> LaneContents:
    """Parse the transcript of one lane of a bundle.

    Raises:
        InputError: there is no such lane, or its control stream is malformed.
    """
    return parse_transcript(arm, bundle.records(arm))


def parse_transcript(arm: str, records: Iterable[Record]) -> LaneContents:
    """Parse a transcript.

    Raises:
        InputError: the control stream is malformed; the error names lane and offset.
    """
    lane = LaneContents(arm)
    reader = FrameReader()
    splitters: dict[int, PageSplitter] = {}
    parts: dict[int, list[bytes]] = {}
    for _, stream, payload in records:
        lane.records += 1
        lane.stream_bytes += len(payload)
        if stream == CTL:
            try:
                for raw in reader.feed(payload):
                    lane.frames.append(decode_frame(raw))
            except ProtocolError as error:
                raise lane.broken(error) from error
            if len(lane.frames) > FRAMES:
                raise InputError(
                    f"lane {arm} of the recording has more than {FRAMES:,} frames.",
                    remedy="Get the file again, or make a shorter recording.",
                )
        elif stream == LENS:
            lane.lens.append(payload)
        else:
            splitter = splitters.setdefault(stream, PageSplitter(lane.page_bytes))
            parts.setdefault(stream, []).append(splitter.feed(payload))
    lane.pages = {cpu: b"".join(pieces) for cpu, pieces in parts.items()}
    lane.rest_bytes = sum(splitter.held_bytes for splitter in splitters.values())
    return lane
