# SPDX-License-Identifier: GPL-2.0-or-later
"""What students ask of the servers: while all of them come, and afterwards. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from duet.budgets import DIRECT_VIEWERS
from duet.capacity.demand import PLACES_PER_S, Demand
from duet.capacity.estimate import NOTHING, Estimate, spanning

PAGE_CONNECTIONS: Final = 6
"""That a browser opens to fetch files and segments, while it loads a page."""
MS: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Load:
    """Of all servers together.

    Args:
        connections: at nginx, or at the server where no cache stands before it.
    """

    server_cores: Estimate
    nginx_cores: Estimate
    bits_per_s: Estimate
    connections: Estimate


def starting(asked: Demand, known: dict[str, Estimate]) -> Load:
    """While all come: each opens the page and its socket, and fetches the whole recording."""
    per_s = asked.students / asked.arrive_s
    of_segments = asked.segments * known["segment_nginx" if asked.cache else "segment_server"]
    server, nginx = known["open_server"], NOTHING
    if asked.cache:
        nginx = known["open_nginx"] + of_segments
    else:
        server = server + of_segments
    page = spanning(known["page_first_bytes"], known["page_all_bytes"])
    sent = page + known["open_bytes"] + asked.recording_bytes
    return Load(
        server_cores=server * (per_s * MS),
        nginx_cores=nginx * (per_s * MS),
        bits_per_s=sent * (per_s * 8),
        connections=_connections(asked, PAGE_CONNECTIONS),
    )


def lasting(asked: Demand, known: dict[str, Estimate]) -> Load:
    """Afterwards: the class follows its driver, and looks at live runs.

    Low: a place a second, and each run has one viewer. High: the driver drags, and all watch one
    run, while the others have one viewer each.
    """
    places = Estimate(1.0, PLACES_PER_S) * asked.students
    server, nginx = places * (known["place_server"] * MS), NOTHING
    sent = places * known["place_bytes"]
    least = min(asked.live, asked.students)
    most = asked.students + max(0, least - 1) if least else 0
    if least:
        packed = max(0, asked.students - DIRECT_VIEWERS) if asked.cache else 0
        direct = Estimate(least, max(least, most - packed))
        by_segments = Estimate(0, packed)
        server = server + direct * (known["live_messages_server"] * MS)
        server = server + by_segments * (known["live_segments_server"] * MS)
        nginx = by_segments * (known["live_segments_nginx"] * MS)
        sent = sent + direct * known["live_messages_bytes"]
        sent = sent + by_segments * known["live_segments_bytes"]
    # A CPU that is wanted more than once is what `bottleneck` looks at; nothing is cut off here.
    return Load(server, nginx, sent * 8, _connections(asked, 1 if asked.cache else 0))


def _connections(asked: Demand, fetching: int) -> Estimate:
    """A socket of each page, twice where nginx passes it on, and those that fetch."""
    each = 2 if asked.cache else 1
    return Estimate(asked.students * each, asked.students * (each + fetching))
