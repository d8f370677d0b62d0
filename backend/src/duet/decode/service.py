# SPDX-License-Identifier: GPL-2.0-or-later
"""Service for sandboxed children that decodes pages and replies with columns. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duet.decode.decoder import CpuColumns, Decoder

Answer = tuple[Mapping[str, object], Sequence[bytes]]


class DecoderService:
    """Answer the requests `files` and `decode` from bundle.decoding."""

    def __init__(self) -> None:
        self._decoder: Decoder | None = None
        self._strings = 0

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        if request["do"] == "files":
            self._decoder = Decoder(request["files"], request["page_bytes"])
            return {"events": [_event(event) for event in self._decoder.events]}, ()
        assert self._decoder is not None, "files come before pages"
        part = self._decoder.decode(request["cpu"], bytes(blobs[0]))
        strings = self._decoder.strings[self._strings :]
        self._strings += len(strings)
        tree = {
            "tables": [[name, len(table)] for name, table in part.tables.items()],
            "losses": [[loss.t0_ns, loss.t1_ns, loss.count] for loss in part.losses],
            "strings": strings,
            "unknown": [list(pair) for pair in self._decoder.unknown.items()],
        }
        return tree, _columns(part)


def _event(event: Any) -> list[object]:
    fields = [[f.name, int(f.kind), f.size, f.signed, f.width] for f in event.fields]
    return [event.name, event.id, fields]


def _columns(part: CpuColumns) -> list[bytes]:
    blobs = []
    for table in part.tables.values():
        blobs += [table.ts_ns.tobytes(), table.seq.tobytes(), table.pid.tobytes()]
        blobs += [column.tobytes() for column in table.columns.values()]
    return blobs
