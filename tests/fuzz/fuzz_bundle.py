#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""atheris target: bundles, from the zip to the records.

Input: u8 kind. 0: u16 length and text of a manifest, then a stream; the target corrects checksums,
so that the code after the check is reached. 1: the bytes of the file.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["duet.bundle", "zipfile"]):
    from duet.bundle.archive import TOTAL_BYTES, open_part, parse_manifest, read_stream
    from duet.bundle.reader import UnpackService, parse_transcript

from duet.base.errors import DuetError

FILE = Path(f"/dev/shm/duet-fuzz-{os.getpid()}.duet")


def zipped(data: bytes) -> bytes:
    """Return a bundle with a manifest and the same stream for each lane that it names."""
    length = int.from_bytes(data[:2], "little")
    text, stream = data[2 : 2 + length], data[2 + length :]
    members = {"lanes/rwsem/stream.bin": stream}
    try:
        tree = json.loads(text)
        names = [arm["name"] for arm in tree["arms"]]
        members = {f"lanes/{name:.60}/stream.bin": stream for name in names}
        tree["sums"] = {name: sha256(content).hexdigest() for name, content in members.items()}
        text = json.dumps(tree).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        pass  # use an invalid manifest unchanged
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in {"manifest.json": text, **members}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def one(data: bytes) -> None:
    """Open a bundle and parse each lane: it yields results, or one error."""
    if not data:
        return
    try:
        content = data[1:] if data[0] & 1 else zipped(data[1:])
    except (UnicodeEncodeError, ValueError):
        return  # a name that no zip can have
    FILE.write_bytes(content)
    request = {"name": "x.duet", "most_bytes": TOTAL_BYTES}
    with FILE.open("rb") as file, tempfile.TemporaryFile(dir=FILE.parent) as scratch:
        # Do the work of the sandboxed child in this process, for its coverage.
        try:
            reply, (text,) = UnpackService().answer(request, [], [file.fileno(), scratch.fileno()])
        except DuetError as error:
            assert error.sentence.isprintable() and len(error.sentence) < 600, error.sentence
            return
        rows: Any = reply["members"]
        manifest = parse_manifest("x.duet", bytes(text), {name for name, *_ in rows})
        places = {name: (at, size) for name, _, at, size in rows}
        for arm in manifest.arms:
            name = f"lanes/{arm.name}/stream.bin"
            at, size = places[name]
            try:
                parse_transcript(
                    arm.name, read_stream(open_part(scratch.fileno(), at, size), size, name)
                )
            except DuetError as error:
                assert error.sentence.isprintable() and len(error.sentence) < 600, error.sentence


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    try:
        atheris.Fuzz()
    finally:
        FILE.unlink(missing_ok=True)
