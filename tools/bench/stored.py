# SPDX-License-Identifier: GPL-2.0-or-later
"""Store benchmark results as constants that `duet plan` uses on this installation."""

from __future__ import annotations

import os

from duet import __version__
from duet.base.errors import InputError
from duet.cli.output import note
from duet.plugins.cluster.capacity.constants import constants_file, record
from duet.runs.pack import recording_host
from tools.bench.results import (
    ClassResult,
    FollowersResult,
    LanesResult,
    PoolStartsResult,
    SegmentsResult,
    ViewersResult,
)

MIB = 1 << 20
MS = 1e3
Values = dict[str, float]
USUAL_FPS = 20.0
"""Frames per second in a live run at the guest's own pace."""


def store(values: Values) -> None:
    """Store the values, and print the file's path. A file that cannot be read stays unchanged."""
    path = constants_file()
    try:
        count = record(path, values, recording_host(), __version__, os.getloadavg()[0])
    except InputError as error:
        note(f"not stored for ./duet plan: {error.sentence} {error.remedy}")
    except OSError as error:
        note(f"not stored for ./duet plan: {path}: {error.strerror}")
    else:
        note(f"stored {count} constants for ./duet plan in {path}")


def of_segments(found: SegmentsResult) -> Values:
    recorded, live, page = found.recorded, found.live, found.page
    values = {
        "open_server": recorded.opened_server_ms,
        "open_nginx": recorded.opened_nginx_ms,
        "open_bytes": recorded.opened_bytes,
        "page_first_bytes": page.first_bytes,
        "page_all_bytes": page.all_bytes,
        "segment_nginx": recorded.nginx_ms / recorded.segments,
        "segment_server": recorded.direct_ms,
        "server_memory": recorded.server_bytes,
    }
    if live.by_segments:
        values |= {
            "live_segments_server": live.server_cores * MS / live.viewers,
            "live_segments_nginx": live.nginx_cores * MS / live.viewers,
            "live_segments_bytes": live.packed_mb_per_s * 1e6,
            "live_messages_bytes": live.raw_mb_per_s * 1e6,
            "viewer_memory": live.viewer_bytes,
        }
    return values


def of_viewers(found: ViewersResult) -> Values:
    """Return the constants from `bench viewers`, scaled to the usual frames per second."""
    each = found.server_cores * MS / found.viewers
    return {"live_messages_server": each * USUAL_FPS / found.frames_per_s}


def of_followers(found: FollowersResult) -> Values:
    each = found.server_cores * MS / (found.followers * found.places_per_s)
    return {"place_server": each, "place_bytes": found.place_bytes}


def of_class(found: ClassResult) -> Values:
    """Return the constants from `bench class`, or {} if a student was not served."""
    if not found.runs or found.served < found.students:
        return {}
    return {
        "lane_cores": found.lane_cores,
        "lane_memory": found.lane_mib * MIB,
        "run_time": found.run_s,
    }


def of_lanes(found: LanesResult) -> Values:
    """Return the constants from `bench lanes`. Leave out copies unless all of them started."""
    values: Values = {}
    if found.boot is not None:
        values["boot_start"] = found.boot.p50_ms
    if found.copy is not None and found.copies == found.copies_asked:
        values |= {"copy_start": found.copy.p50_ms, "parked_memory": found.template_mib * MIB}
    return values


def of_pool(found: PoolStartsResult) -> Values:
    """Return the constants from `bench pool`: the time in ms that a lease adds to the median."""
    values = {"lease_first": found.first_more_ms, "lease_stands": found.stands_more_ms}
    return {name: value for name, value in values.items() if value is not None}
