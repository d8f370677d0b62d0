# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of `duet bench segments` as lines, held against what docs/SEGMENTS.md promises."""

from __future__ import annotations

from duet.cli.bench.results import Delays, LiveCost, RecordedCost, SegmentsResult, Target
from duet.cli.bench.targets import at_least, at_most, target_lines


def targets_of(recorded: RecordedCost, live: LiveCost) -> list[Target]:
    """What is promised of both."""
    return [
        at_most("CPU time of nginx for a viewer of a recording", 0.5, "ms", recorded.nginx_ms),
        at_least("messages on the socket over segments, CPU time", 10, "times", recorded.ratio),
        at_most("99th percentile of a live segment's delay", 500, "ms", live.segments.p99_ms),
        at_most("the server's CPU for the live run", 0.5, "cores", live.server_cores),
    ]


def text_of(result: SegmentsResult) -> str:
    """The result as lines."""
    recorded, live = result.recorded, result.live
    return "\n".join(
        (
            f"a recording of {result.lesson}, CPU time for each viewer:",
            f"  as messages {recorded.messages_server_ms:.2f} ms of the server and "
            f"{recorded.messages_nginx_ms:.2f} ms of nginx ({recorded.messages_viewers} viewers)",
            f"  as {recorded.segments} segments, {recorded.bytes / 1e3:.0f} KB: "
            f"{recorded.nginx_ms:.2f} ms of nginx ({recorded.viewers} viewers), "
            f"{recorded.server_ms:.2f} ms of the server for {recorded.reached} requests passed on",
            f"  in both cases the socket, the lesson and the list: {recorded.opened_server_ms:.2f} "
            f"ms of the server and {recorded.opened_nginx_ms:.2f} ms of nginx",
            f"  {recorded.ratio:.1f} times less",
            f"  without nginx {recorded.direct_ms:.2f} ms of the server for each segment "
            f"({recorded.direct_viewers} viewers)",
            f"the page: {result.page.first_bytes / 1e3:.0f} to {result.page.all_bytes / 1e3:.0f} "
            f"KB, and {recorded.opened_bytes / 1e3:.0f} KB on the socket; memory of the server: "
            f"{recorded.server_bytes / 1e6:.0f} MB, and {live.viewer_bytes / 1e3:.0f} KB for each "
            "viewer of the live run",
            f"a live run with {live.viewers} viewers through nginx, {live.seconds:g} s, "
            f"{live.raw_mb_per_s:.2f} MB/s of messages, {live.packed_mb_per_s:.2f} MB/s packed:",
            f"  server {live.server_cores:.2f} cores, nginx {live.nginx_cores:.2f} cores; "
            f"{live.reached} requests for segments were passed on, {live.closed} sockets closed",
            f"  {live.by_segments} viewers by segments: {delays_text(live.segments)} from the "
            "encoding of a segment's oldest row",
            f"  the first by messages: {delays_text(live.messages)}",
            *target_lines(result.targets),
            f"load of the host: {result.load}",
        )
    )


def delays_text(found: Delays) -> str:
    """Quantiles in words."""
    return f"{found.batches} came, p50 {found.p50_ms:.0f} ms, p99 {found.p99_ms:.0f} ms"
