# SPDX-License-Identifier: GPL-2.0-or-later
"""The slides of a lesson as PDF, one a page: the page makes them, and Chromium prints.

The address `?lesson=SLUG&present=handout` walks the lesson and copies each slide
(frontend/src/page/deck/handout-page.tsx); print CSS puts one on each sheet of A4.
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
"""Until all pages are made. Usual: 2 s a page, of some 25."""
POLL_S = 0.2
DOTS = 2.0
"""Dots for each CSS pixel of what is drawn: some 230 an inch on paper."""
WHOLE = "document.querySelector('.handout')?.dataset.whole !== undefined"
MADE = "document.querySelectorAll('.handout-page').length"


def write(target: Target, folder: LessonFolder, chosen: dict[str, Path]) -> None:
    """Print the slides of a lesson, drawn from these recordings (name -> file).

    Raises:
        InputError: the lesson has no picture, or a recording cannot be played.
        InfraError: no Chromium, no built page, or one of them fails.
    """
    if folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no picture yet, so it has no slides.",
            remedy="Choose another lesson.",
        )
    find_chromium()  # before seconds of decoding
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
        f"only {made} pages were made within {PAGES_S:.0f} s.",
        remedy="Try again when the machine is less busy.",
    )
