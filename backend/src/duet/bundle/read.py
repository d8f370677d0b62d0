# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a bundle that may come from anywhere.

A confined child unpacks it into a nameless temporary file and checks every size, name and sum; so
a recording of a gigabyte takes room on the disk, and none in the server's memory.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from duet import budgets
from duet.bundle import limits
from duet.bundle.archive import MEMBER, REMEDY, manifest_of, refused
from duet.bundle.manifest import Manifest
from duet.bundle.record import Record
from duet.bundle.unpacked import Unpacked
from duet.confined import Child, Reply, Terms
from duet.confined.replies import Odd, text, whole
from duet.errors import InfraError, InputError

ROW: Final = 4
"""Of a member: name, bytes in the file, offset and bytes in the temporary file."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle; everything in it has been checked.

    Args:
        packed: member -> its bytes in the file.
        file_bytes: of all of it.
    """

    manifest: Manifest
    packed: dict[str, int]
    file_bytes: int
    _unpacked: Unpacked

    def records(self, arm: str) -> Iterator[Record]:
        """The transcript of one lane.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        name = f"lanes/{arm}/stream.bin"
        return self._unpacked.records(name)

    def stream_bytes(self, arm: str) -> int:
        """The size of one lane's transcript, heads of records included.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        return self._unpacked.places[f"lanes/{arm}/stream.bin"][1]

    def patch(self, name: str) -> bytes:
        """One patch file.

        Raises:
            InputError: there is no such patch.
        """
        if f"patches/{name}" not in self._unpacked.places:
            raise InputError(f"the recording has no patch '{name:.60}'.", remedy=REMEDY)
        return self._unpacked.content(f"patches/{name}")

    @property
    def patches(self) -> tuple[str, ...]:
        """Names of the patch files."""
        start = "patches/"
        members = self._unpacked.places
        return tuple(name.removeprefix(start) for name in members if name.startswith(start))


def open_bundle(path: Path) -> Bundle:
    """Open and check a bundle. Blocking, for as long as REQUEST_WAIT_S.

    Raises:
        InputError: it is missing, no bundle, too large, of another format, or not what its sums
            say.
        InfraError: there is no room to unpack it.
    """
    with _file(path) as file, _scratch() as scratch:
        manifest, reply = _asked(path, (file, scratch))
        unpacked = Unpacked(os.dup(scratch))
        rows = reply.rows("members", ROW, limits.MEMBERS)
        packed = {_member(name): whole(size) for name, size, _, _ in rows}
        unpacked.places = {
            _member(name): (whole(at), whole(size, 0, limits.STREAM_BYTES))
            for name, _, at, size in rows
            if name != "manifest.json"
        }
        size = os.fstat(scratch).st_size
        if any(at + length > size for at, length in unpacked.places.values()):
            raise refused(path.name, "it is not what its entries say")
        return Bundle(manifest, packed, os.fstat(file).st_size, unpacked)


def read_manifest(path: Path) -> Manifest:
    """The manifest alone, without unpacking the lanes; good for a list, not for playing.

    Raises:
        InputError: as `open_bundle`, as far as that shows.
    """
    with _file(path) as file:
        return _asked(path, (file,))[0]


def _asked(path: Path, fds: tuple[int, ...]) -> tuple[Manifest, Reply]:
    """What a child says of the file; with a second descriptor it unpacks all of it there."""
    terms = Terms(
        f"the recording {path.name}", remedy=REMEDY, file_bytes=limits.TOTAL_BYTES,
        request_cpu_s=budgets.RECORDING_CPU_S,
    )  # fmt: skip
    child = Child("unpack", terms, fds)
    try:
        reply = child.call({"name": path.name, "most_bytes": limits.TOTAL_BYTES})
        try:
            names = {_member(name) for name, *_ in reply.rows("members", ROW, limits.MEMBERS)}
            manifest = manifest_of(path.name, bytes(reply.blob()), names)
        except (Odd, TypeError) as error:
            raise child.odd(error) from error
        return manifest, reply
    finally:
        child.close()


def _member(name: object) -> str:
    if not MEMBER.fullmatch(text(name)):
        raise Odd("a member's name")
    return str(name)


@contextmanager
def _file(path: Path) -> Iterator[int]:
    """An open regular file of an allowed size."""
    try:
        # A pipe without a writer would wait for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no recording {path.name}.", remedy="Make one with ./duet record."
        ) from error
    except (OSError, ValueError) as error:
        raise refused(path.name, f"it cannot be read ({error})") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise refused(path.name, "it is no file")
        if status.st_size > limits.FILE_BYTES:
            raise refused(
                path.name, f"it has {status.st_size} bytes, and {limits.FILE_BYTES} are allowed"
            )
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _scratch() -> Iterator[int]:
    """A temporary file without a name."""
    try:
        file = tempfile.TemporaryFile(prefix="duet-")  # noqa: SIM115 (closed by `with` below)
    except OSError as error:
        raise InfraError(
            f"no temporary file can be made: {error.strerror or error}.",
            remedy="Make room in the folder for temporary files, or name another with TMPDIR.",
        ) from error
    with file:
        yield file.fileno()
