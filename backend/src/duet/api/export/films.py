# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as one film, by ffmpeg."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from duet.errors import InfraError

FPS = {"gif": 12, "webm": 25}
FFMPEG_S = 300.0
FILTERS = {
    "gif": ["-filter_complex", "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse"],
    "webm": ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"],
}


async def film(frames: AsyncIterator[bytes], to: str) -> bytes:
    """Frames as one file, by ffmpeg.

    Raises:
        InfraError: it fails or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="duet-film-") as scratch:
        made = Path(scratch) / f"film.{to}"
        process = await asyncio.create_subprocess_exec(
            *("ffmpeg", "-v", "error", "-f", "image2pipe", "-framerate", str(FPS[to]), "-i", "-"),
            *(*FILTERS[to], str(made)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        try:
            async for frame in frames:
                process.stdin.write(frame)
                await process.stdin.drain()
            process.stdin.close()
            async with asyncio.timeout(FFMPEG_S):
                _, said = await process.communicate()
        except (TimeoutError, ConnectionError) as error:
            raise InfraError(
                f"ffmpeg did not come to an end ({type(error).__name__}).",
                remedy="Take a shorter film.",
            ) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode or not made.is_file():
            raise InfraError(
                f"ffmpeg could not make a {to}.",
                remedy="Take another format, or install Debian's ffmpeg.",
                detail=said.decode(errors="replace"),
            )
        return made.read_bytes()
