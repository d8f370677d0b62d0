# SPDX-License-Identifier: GPL-2.0-or-later
"""A bundle taken apart, so that a fuzzer can change it deep inside and put it together again."""

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
    """What a bundle is made of; every record of the control port holds one whole frame.

    Args:
        extra: further members of the zip, by name.
        raw: lane -> its stream, where the bytes and not the records were changed.
    """

    manifest: dict[str, Any]
    lanes: dict[str, list[Record]]
    patches: dict[str, bytes]
    extra: dict[str, bytes] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    text: bytes | None = None

    def copy(self) -> Parts:
        """One that can be changed."""
        lanes = {arm: list(records) for arm, records in self.lanes.items()}
        return Parts(copy.deepcopy(self.manifest), lanes, dict(self.patches))

    def file(self, method: int = zipfile.ZIP_DEFLATED, *, honest: bool = True) -> bytes:
        """The bytes of the bundle; honest: its checksums are right."""
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
    """As stream.bin, without the care of the writer."""
    return b"".join(
        HEAD.pack(host_ns, stream, 0, len(payload)) + payload
        for host_ns, stream, payload in records
    )


@cache
def take_apart(path: Path, most_records: int) -> Parts:
    """A recording, cut if it is long, since small cases are fast ones. Copy it to change it."""
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
    """The same transcript with one frame a record."""
    reader, found = FrameReader(), list[Record]()
    for record in records:
        if record.stream != CTL:
            found.append(record)
            continue
        for frame in reader.feed(record.payload):
            found.append(record._replace(payload=pack_frame(frame.type, frame.payload)))
    return found


def frame_of(record: Record) -> RawFrame:
    """The frame of a record of the control port."""
    (frame,) = FrameReader().feed(record.payload)
    return frame
