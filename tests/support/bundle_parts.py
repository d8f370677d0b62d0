# SPDX-License-Identifier: GPL-2.0-or-later
"""Parsed bundles that a fuzzer can change at any level and write again."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from duet.bundle import Record, open_bundle
from duet.bundle.archive import HEAD
from duet.bundle.manifest import CTL
from duet.wire import FrameReader, RawFrame, pack_frame

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)


@dataclass(slots=True, repr=False)
class Parts:
    """Content of a bundle; every record of the control port contains one whole frame.

    Args:
        extra: additional members of the zip, by name.
        raw: lane -> its stream, if the fuzzer changed bytes instead of records.
        text: manifest.json, if the fuzzer changed its text; else None.
    """

    manifest: dict[str, Any]
    lanes: dict[str, list[Record]]
    patches: dict[str, bytes]
    extra: dict[str, bytes] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    text: bytes | None = None

    def copy(self) -> Parts:
        """Return a copy that the caller may change."""
        lanes = {arm: list(records) for arm, records in self.lanes.items()}
        return Parts(copy.deepcopy(self.manifest), lanes, dict(self.patches))

    def file(self, method: int = zipfile.ZIP_DEFLATED, *, honest: bool = True) -> bytes:
        """Return the bytes of the bundle; with `honest`, its checksums are correct."""
        members = {f"lanes/{arm}/stream.bin": pack(records) for arm, records in self.lanes.items()}
        members |= {f"lanes/{arm}/stream.bin": stream for arm, stream in self.raw.items()}
        members |= {f"patches/{name}": text for name, text in self.patches.items()} | self.extra
        if honest:
            sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
            self.manifest["sums"] = sums
        text = json.dumps(self.manifest).encode() if self.text is None else self.text
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for name, content in ({"manifest.json": text} | members).items():
                archive.writestr(zipfile.ZipInfo(name), content, method)
        return out.getvalue()


def pack(records: list[Record]) -> bytes:
    """Pack records as stream.bin, without the checks of the real writer."""
    return b"".join(
        HEAD.pack(host_ns, stream, 0, len(payload)) + payload
        for host_ns, stream, payload in records
    )


@cache
def take_apart(path: Path, most_records: int) -> Parts:
    """Parse a recording; shorten a long one, for speed. The result is cached, so copy it first."""
    bundle = open_bundle(path)
    tree = bundle.manifest.model_dump(mode="json")
    lanes = {arm.name: whole_frames(bundle.records(arm.name)) for arm in bundle.manifest.arms}
    first = next(iter(lanes))
    if sum(len(records) for records in lanes.values()) > most_records:
        lanes = {first: lanes[first][:most_records]}
        tree["arms"] = tree["arms"][:1]
    patches = {name: bundle.patch(name) for name in bundle.patches}
    return Parts(tree, lanes, patches)


def whole_frames(records: Any) -> list[Record]:
    """Return the transcript with one control frame in each record."""
    reader, found = FrameReader(), list[Record]()
    for record in records:
        if record.stream != CTL:
            found.append(record)
            continue
        for frame in reader.feed(record.payload):
            found.append(record._replace(payload=pack_frame(frame.type, frame.payload)))
    return found


def frame_of(record: Record) -> RawFrame:
    """Return the frame in a record of the control port."""
    (frame,) = FrameReader().feed(record.payload)
    return frame
