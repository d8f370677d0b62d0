# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits until a server has parked guests, by its /metrics."""

from __future__ import annotations

import asyncio
import http.client
import time
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from duet.cli.output import note
from duet.host.guests import LATER_S

PARK_S: Final = 300.0
"""Until guests are parked for all lessons. Usual: a minute."""
LOOK_S: Final = 1.0
ANSWER_S: Final = 60.0


async def until_parked(address: str, at_least_s: float = LATER_S + LOOK_S) -> None:
    """Until all guests are parked that are to be, or PARK_S is over.

    Args:
        at_least_s: until the server has begun with guests for other lessons.
    """
    began = time.monotonic()
    while time.monotonic() - began < PARK_S:
        now = await asyncio.to_thread(templates, address)
        left = now["waiting"] + now["later"] + now["making"]
        if time.monotonic() - began >= at_least_s and not left:
            return
        await asyncio.sleep(LOOK_S)
    note(f"guests were still being parked after {PARK_S:g} s")


def templates(address: str) -> dict[str, float]:
    """What /metrics says of parked guests."""
    connection = http.client.HTTPConnection(address, timeout=ANSWER_S)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    return {
        sample.name.removeprefix("duet_templates_"): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("duet_templates_")
    }
