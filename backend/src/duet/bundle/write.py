# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a bundle: one zip with the manifest, the lanes and the patches."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from duet import durable
from duet.bundle import limits
from duet.bundle.manifest import Manifest
from duet.bundle.record import Record
from duet.bundle.stream import pack_stream
from duet.errors import InfraError, InputError

METHOD = zipfile.ZIP_LZMA
"""A third smaller than deflate on ring-buffer pages; half a second of three lanes costs 1 s."""
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_bundle(
    path: Path,
    manifest: Manifest,
    lanes: Mapping[str, Iterable[Record]],
    patches: Mapping[str, bytes],
) -> int:
    """Write the file, whole or not at all; equal input gives equal bytes.

    Returns:
        Its size in bytes.

    Raises:
        InfraError: it cannot be written.
        InputError: it is more than a reader takes.
    """
    members = {f"lanes/{arm}/stream.bin": pack_stream(records) for arm, records in lanes.items()}
    members |= {f"patches/{name}": patch for name, patch in patches.items()}
    _check(path, members)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    whole = manifest.model_copy(update={"sums": sums})
    text = whole.model_dump_json(indent=1).encode()
    try:
        with durable.written(path) as file, zipfile.ZipFile(file, "w", METHOD) as bundle:
            for name, content in ({"manifest.json": text} | members).items():
                bundle.writestr(zipfile.ZipInfo(name, EPOCH), content, METHOD)
    except OSError as error:
        raise InfraError(
            f"the recording {path.name} could not be written: {error.strerror or error}.",
            remedy="Make room on the disk, or choose another folder.",
        ) from error
    return path.stat().st_size


def _check(path: Path, members: Mapping[str, bytes]) -> None:
    """What is written must be readable again."""
    sizes = {name: len(content) for name, content in members.items()}
    lanes = [size for name, size in sizes.items() if name.startswith("lanes/")]
    over = max(lanes, default=0) > limits.STREAM_BYTES or sum(sizes.values()) > limits.TOTAL_BYTES
    if over or len(members) >= limits.MEMBERS:
        raise InputError(
            f"the recording {path.name} would have {sum(sizes.values())} bytes in "
            f"{len(members)} members, more than can be read again.",
            remedy="Record fewer lanes or a shorter run.",
        )
