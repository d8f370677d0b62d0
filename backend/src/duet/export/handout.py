# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a lesson's slides as a PDF with one slide per page, printed by Chromium.

The URL `?lesson=SLUG&present=handout` steps through the lesson and copies each slide
(frontend/src/page/deck/handout-page.tsx). The print CSS puts one slide on each A4 page.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlencode

from duet.base.errors import InfraError, InputError
from duet.export import site
from duet.export.browser import Browser, Screen, find_chromium
from duet.export.scene import Target
from duet.lessons.load import LessonFolder
from duet.processes.run_dir import RunDir

PAGES_S = 600.0
"""Timeout for all pages. Usual: 25 pages, 2 s per page."""
POLL_S = 0.2
DOTS = 2.0
"""Device pixels per CSS pixel; on paper this is about 230 dots per inch."""
WHOLE = "document.querySelector('.handout')?.dataset.whole !== undefined"
MADE = "document.querySelectorAll('.handout-page').length"


def write(target: Target, folder: LessonFolder, chosen: dict[str, Path]) -> None:
    """Print the slides of a lesson.

    Args:
        chosen: recording name -> file; the slides show these recordings.

    Raises:
        InputError: the lesson has no view, or a recording cannot be played.
        InfraError: Chromium or the built page is missing or fails.
    """
    if folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no picture yet, so it has no slides.",
            remedy="Choose another lesson.",
        )
    find_chromium()  # without Chromium, fail before decoding
    with RunDir() as scratch:
        site.write(site.check_site(scratch / "site"), folder, chosen)
        content = asyncio.run(_printed(scratch / "site", folder))
    with target.file() as file:
        file.write(content)


async def _printed(out: Path, folder: LessonFolder) -> bytes:
    async with Browser(Screen(scale=DOTS)) as browser:
        page = await browser.uri(out / "index.html")
        query = urlencode({"lesson": folder.slug, "present": "handout"})
        await browser.open(f"{page}?{query}")
        made = 0
        for _ in range(round(PAGES_S / POLL_S)):
            if await browser.evaluate(WHOLE):
                return await browser.pdf()
            made = int(str(await browser.evaluate(MADE)))
            await asyncio.sleep(POLL_S)
    raise InfraError(
        f"only {made} pages were printed within {PAGES_S:.0f} s.",
        remedy="Try again when the machine is less busy.",
    )
