# SPDX-License-Identifier: GPL-2.0-or-later
"""A good recording taken apart, and what it takes to put a hostile one together from it."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
from duet.bundle import Record, trim  # noqa: E402
from duet.bundle.manifest import CTL  # noqa: E402
from duet.lessons.load import load  # noqa: E402
from duet.lessons.plan import workload_of  # noqa: E402
from duet.wire import FrameReader, RawFrame, pack_frame  # noqa: E402
from tests.support.bundle_parts import pack, take_apart  # noqa: E402

GOOD = REPO / "lessons/02-grace-periods/recorded/1-hog.duet"
ARM = "rwsem"
WINDOW_MS = 20
"""What is left of it, so that a case costs a tenth of a second."""
STREAM = f"lanes/{ARM}/stream.bin"

Tree = dict[str, Any]
Payload = Callable[[bytes], bytes | list[bytes] | None]
"""What becomes of a frame's payload: another, several, or None (it stays)."""


class Expect(Enum):
    """What has to come of a recording."""

    PLAYS = "plays"
    """Results and exit code 0."""
    REFUSED = "refused"
    """One sentence that refuses it, and exit code 2. A replay does what a live run does, and so may
    say that the guest failed (4) or that the run has no end (3)."""
    EITHER = "either"
    """One of the two: a bound decides, which may change."""


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile recording.

    Args:
        name: of its file; begins with its family.
        expect: of `duet inspect` and of `duet replay`.
        content: makes the file's bytes.
        finding: of the security audit, if it had a number.
    """

    name: str
    inspect: Expect
    replay: Expect
    content: Callable[[], bytes]
    finding: str = ""


def case(
    name: str,
    expect: Expect,
    content: Callable[[], bytes],
    *,
    replay: Expect | None = None,
    finding: str = "",
) -> Case:
    """A case whose replay ends as its inspection does, if nothing else is said."""
    return Case(name, expect, replay or expect, content, finding)


@dataclass(frozen=True, slots=True)
class Good:
    """One lane of a good recording; each record of the control port holds one whole frame.

    Args:
        tree: its manifest, of this lane alone. Copy it to change it.
    """

    tree: Tree
    records: tuple[Record, ...]

    def swap(self, kind: int, change: Payload) -> list[Record]:
        """The transcript with the frames of a type changed."""
        found: list[Record] = []
        for record in self.records:
            frame = frame_of(record)
            made = change(frame.payload) if frame and frame.type == kind else None
            if made is None:
                found.append(record)
                continue
            for payload in made if isinstance(made, list) else [made]:
                found.append(record._replace(payload=long_frame(kind, payload)))
        return found

    def insert(self, at: int, *raw: bytes) -> list[Record]:
        """The transcript with bytes of the control port put in before a record."""
        host_ns = self.records[at].host_ns
        return [
            *self.records[:at],
            *(Record(host_ns, CTL, one) for one in raw),
            *self.records[at:],
        ]

    def file(
        self,
        records: Iterable[Record] | bytes | None = None,
        tree: Tree | None = None,
        extra: dict[str, bytes] | None = None,
        method: int = zipfile.ZIP_DEFLATED,
    ) -> bytes:
        """A bundle with right checksums.

        Args:
            records: of the lane, or the bytes of its stream; None: the good ones.
            extra: further members.
        """
        stream = self.stream(records)
        return bundle(tree or self.tree, {STREAM: stream} | (extra or {}), method)

    def stream(self, records: Iterable[Record] | bytes | None = None) -> bytes:
        """stream.bin of the lane."""
        if isinstance(records, bytes):
            return records
        return pack(list(self.records if records is None else records))


@cache
def good() -> Good:
    """Lesson 02's smallest recording, one lane of it."""
    parts = take_apart(GOOD, 10**6)
    tree = copy.deepcopy(parts.manifest)
    tree["arms"] = [arm for arm in tree["arms"] if arm["name"] == ARM]
    tree["arms"][0]["patches"] = []
    tree["window_ms"] = WINDOW_MS
    marker = workload_of(load(tree["lesson"]).lesson, tree["workload"]).start_marker
    return Good(tree, tuple(trim(parts.lanes[ARM], marker, WINDOW_MS)))


def frame_of(record: Record) -> RawFrame | None:
    """The frame in a record of the control port."""
    if record.stream != CTL:
        return None
    (frame,) = FrameReader().feed(record.payload)
    return frame


def long_frame(kind: int, payload: bytes) -> bytes:
    """A frame of any length; pack_frame asserts that it can be sent."""
    head = bytearray(pack_frame(kind))
    head[8:12] = len(payload).to_bytes(4, "little")
    return bytes(head) + payload


def bundle(
    tree: Tree | str | bytes, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """A zip file; a tree gets the right checksums, a text stays as it is."""
    if isinstance(tree, dict):
        tree = json.dumps({**tree, "sums": sums(members)})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as archive:
        for name, content in ({"manifest.json": tree} | members).items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def sums(members: dict[str, bytes]) -> dict[str, str]:
    """Checksums as a manifest has them."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}


def streamed(tree: Tree, pieces: Iterator[bytes]) -> bytes:
    """A bundle whose lane is never whole in memory."""
    out, digest = io.BytesIO(), hashlib.sha256()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        entry = zipfile.ZipInfo(STREAM)
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w") as member:
            for piece in pieces:
                digest.update(piece)
                member.write(piece)
        text = json.dumps({**tree, "sums": {STREAM: digest.hexdigest()}})
        archive.writestr(zipfile.ZipInfo("manifest.json"), text)
    return out.getvalue()
