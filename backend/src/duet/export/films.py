# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as one film, by ffmpeg."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator

from duet.budgets import FFMPEG_CPU_S, FFMPEG_FILE_BYTES, FFMPEG_MEMORY_BYTES
from duet.errors import InfraError
from duet.export.helper import Helper
from duet.guests.console import Console
from duet.sandbox import Limits

FPS = {"gif": 12, "webm": 25}
FFMPEG_S = 300.0
"""From the last frame to the film, and the longest that ffmpeg may take for one frame."""
FILTERS = {
    "gif": ["-filter_complex", "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse"],
    "webm": ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"],
}
LIMITS = Limits(memory_bytes=FFMPEG_MEMORY_BYTES, cpu_s=FFMPEG_CPU_S, file_bytes=FFMPEG_FILE_BYTES)


async def film(frames: AsyncIterator[bytes], to: str) -> bytes:
    """Frames as one file, by ffmpeg.

    Raises:
        InfraError: it fails or takes too long.
    """
    program = shutil.which("ffmpeg") or "ffmpeg"
    made = f"film.{to}"
    words = [
        *(program, "-v", "error", "-f", "image2pipe", "-framerate", str(FPS[to]), "-i", "-"),
        *(*FILTERS[to], made),
    ]
    async with Helper("ffmpeg", LIMITS) as helper:
        process = await helper.start(words, Console(), lambda: None)
        try:
            async for frame in frames:
                async with asyncio.timeout(FFMPEG_S):
                    await process.send(frame)
            process.end_input()
            async with asyncio.timeout(FFMPEG_S):
                await process.wait()
        except TimeoutError as error:
            raise InfraError(
                f"ffmpeg did not come to an end within {FFMPEG_S:.0f} s.",
                remedy="Take a shorter film.",
            ) from error
        content = await asyncio.to_thread(helper.read, made)
        if process.returncode or content is None:
            raise InfraError(
                f"ffmpeg could not make a {to}.",
                remedy="Take another format, or install Debian's ffmpeg.",
                detail=helper.errors.tail(),
            )
        return content
