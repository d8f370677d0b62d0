# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a bundle that may come from anywhere: every size, name and sum is checked first."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from duet.bundle import limits
from duet.bundle.manifest import FORMAT, Manifest
from duet.bundle.record import Record
from duet.bundle.stream import unpack_stream
from duet.errors import InputError

MEMBER = re.compile(
    r"^(?:manifest\.json|lanes/[a-z0-9][a-z0-9_-]{0,39}/stream\.bin"
    r"|patches/[A-Za-z0-9][A-Za-z0-9._-]{0,99})$"
)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
REMEDY = "Get the file anew, or record it again with ./duet record."


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle; everything in it has been checked."""

    manifest: Manifest
    _members: dict[str, bytes]

    def records(self, arm: str) -> Iterator[Record]:
        """The transcript of one lane.

        Raises:
            InputError: there is no such lane.
        """
        self.manifest.arm(arm)
        name = f"lanes/{arm}/stream.bin"
        return unpack_stream(self._members[name], name)

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
    try:
        size = path.stat().st_size
        if size > limits.FILE_BYTES:
            raise _refused(path, f"it has {size} bytes, and {limits.FILE_BYTES} are allowed")
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no recording {path.name}.", remedy="Make one with ./duet record."
        ) from error
    except zipfile.BadZipFile as error:
        raise _refused(path, f"it is no zip file ({error})") from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError, NotImplementedError) as error:
        raise _refused(path, f"it cannot be unpacked ({error or type(error).__name__})") from error


def _read(path: Path, archive: zipfile.ZipFile) -> Bundle:
    members = archive.infolist()
    if len(members) > limits.MEMBERS:
        raise _refused(path, f"it has {len(members)} members, and {limits.MEMBERS} are allowed")
    names = [member.filename for member in members]
    for member in members:
        _check_member(path, member)
    if len(set(names)) != len(names):
        raise _refused(path, "a member occurs twice")
    total = sum(member.file_size for member in members)
    if total > limits.TOTAL_BYTES:
        raise _refused(path, f"unpacked it has {total} bytes, and {limits.TOTAL_BYTES} are allowed")
    if "manifest.json" not in names:
        raise _refused(path, "it has no manifest.json")
    manifest = _manifest(path, _unpack(path, archive, "manifest.json"))
    wanted = {f"lanes/{arm.name}/stream.bin" for arm in manifest.arms}
    if missing := wanted - set(names):
        raise _refused(path, f"{min(missing)} is missing")
    if set(manifest.sums) != set(names) - {"manifest.json"}:
        odd = min(set(manifest.sums) ^ (set(names) - {"manifest.json"}))
        raise _refused(path, f"manifest and members disagree on {odd}")
    contents: dict[str, bytes] = {}
    for name, wanted_sum in manifest.sums.items():
        content = _unpack(path, archive, name)
        if hashlib.sha256(content).hexdigest() != wanted_sum:
            raise _refused(path, f"{name} is not what its checksum says")
        if name.startswith("lanes/"):
            for _ in unpack_stream(content, name):
                pass
        contents[name] = content
    return Bundle(manifest, contents)


def _check_member(path: Path, member: zipfile.ZipInfo) -> None:
    name = member.filename
    if not MEMBER.match(name):
        raise _refused(path, f"it has a member of the odd name {name[:80]!r}")
    most = limits.STREAM_BYTES if name.startswith("lanes/") else limits.PATCH_BYTES
    if name == "manifest.json":
        most = limits.MANIFEST_BYTES
    if member.file_size > most:
        raise _refused(path, f"{name} has {member.file_size} bytes, and {most} are allowed")
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


def _manifest(path: Path, text: bytes) -> Manifest:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"manifest.json is not JSON ({error})") from error
    number = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise InputError(
            f"the recording {path.name} has format {number}, and this program knows {FORMAT}.",
            remedy="Use a newer Kernel Duet.",
        )
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"manifest.json: {place}: {first['msg']}") from error


def _refused(path: Path, why: str) -> InputError:
    return InputError(f"the recording {path.name} cannot be used: {why}.", remedy=REMEDY)
