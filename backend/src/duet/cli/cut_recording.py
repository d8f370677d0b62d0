# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's largest recording, cut into segments as the server cuts it, and their sizes."""

from __future__ import annotations

from duet.base.errors import InfraError
from duet.server.recordings import LessonRecordings
from duet.stream.hub import RunLog
from duet.stream.segments import SegmentLog, pack_cut


async def segment_sizes(slug: str) -> list[int]:
    """Bytes of each segment, packed; of the recording with the largest file.

    Raises:
        InputError: there is no such lesson.
        InfraError: it has no recording, or none that can be read.
    """
    recordings = LessonRecordings()
    paths = recordings.paths(slug)
    if not paths:
        raise InfraError(f"{slug} has no recording.", remedy=f"Run: ./duet record {slug}")
    name = max(paths, key=lambda one: paths[one].stat().st_size)
    try:
        run = await recordings.load(slug, name)
        if run is None:
            raise InfraError(
                f"the recording {name} of {slug} cannot be read.",
                remedy=f"Run: ./duet inspect {slug}/{name}",
            )
        return cut(run.log)
    finally:
        await recordings.close()


def cut(log: RunLog) -> list[int]:
    """Sizes of the segments of a run that is whole (see stream.cutting.Cutting.begin)."""
    segments, sizes = SegmentLog(log.run_id), []
    for packet in log.backlog():
        if segments.is_full(len(packet.body)):
            sizes.append(len(pack_cut(segments.cut().packets)[0]))
        segments.add(packet)
    if segments.waits:
        sizes.append(len(pack_cut(segments.cut().packets)[0]))
    return sizes
