# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacking a recording as a service of confined children."""

from __future__ import annotations

import codecs
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from duet.bundle.archive import METHODS, manifest_of, opened

CODECS = ("cp437", "utf-8-sig", *(f"utf-{n}{end}" for n in (16, 32) for end in ("", "-le", "-be")))
"""Of names in old archives, and what json looks for at the start of a text."""
Answer = tuple[Mapping[str, object], Sequence[bytes]]


def warm() -> None:
    """Let OpenSSL, the packers and their codecs be loaded while files can be opened."""
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
    """One request; its descriptors are the recording and, for its members, a temporary file."""

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """The manifest, and rows of name, bytes in the file, offset and bytes unpacked."""
        name = request["name"]
        with opened(name, fds[0], request["most_bytes"]) as archive:
            text = archive.text()
            manifest = manifest_of(name, text, archive.names)
            places = archive.unpack(manifest, fds[1]) if len(fds) > 1 else {}
            rows = [
                [member, packed, *places.get(member, (0, 0))]
                for member, packed in archive.packed.items()
            ]
        return {"members": rows}, [text]
