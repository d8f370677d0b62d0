# SPDX-License-Identifier: GPL-2.0-or-later
"""Export pictures and films of a recording, as Chromium draws them on the page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

from duet.base.budgets import FFMPEG_CPU_S, FFMPEG_FILE_BYTES, FFMPEG_MEMORY_BYTES
from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.bundle import read_manifest
from duet.confine.sandbox import Limits
from duet.export import site
from duet.export.browser import IDLE_S, Browser, Screen, find_chromium
from duet.export.helper import Helper
from duet.export.scene import Target
from duet.guests.machine import Console
from duet.lessons.document import scene_called
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Scene
from duet.processes.run_dir import RunDir

# Export pictures as SVG, in which texts remain text and marks remain shapes.
#
# A script (frontend/src/svg) draws the open page again, with a canvas context that writes SVG.
# Printing the page to PDF would turn canvases into pixels, and text into outlines.

SCRIPT = "frontend/dist/svg/svg.js"
ID_DIGITS = 8
MOMENT = "document.querySelector('[data-testid=moment]')?.textContent ?? ''"
"""JavaScript that returns the moment as the page shows it. The page may count time from another
zero than the workload's start."""


@dataclass(frozen=True, slots=True)
class Words:
    """Title and description in an SVG, for screen readers and for people who read the file."""

    title: str
    desc: str

    @property
    def id(self) -> str:
        """Prefix for the element ids. With it, one document can contain several pictures."""
        content = f"{self.title}\n{self.desc}".encode()
        return "duet-" + hashlib.sha256(content).hexdigest()[:ID_DIGITS]


def words_of(folder: LessonFolder, path: Path, scene: Scene, moment: str) -> Words:
    """Describe lesson, recording and moment."""
    lesson, manifest = folder.lesson, read_manifest(path)
    return Words(
        title=f"{lesson.title}: {scene.title}",
        desc=(
            f"{lesson.question} Lesson {folder.slug}, step {scene.id}. A recorded run, not a live "
            f"one: {path.stem}, of {manifest.created}. Moment: {moment}. Drawn by Kernel Duet."
        ),
    )


def script() -> str:
    """Return the built script that draws a page as SVG.

    Raises:
        InfraError: the script is not built, or a build is in progress.
    """
    try:
        return (repo_root() / SCRIPT).read_text()
    except OSError as error:
        raise InfraError(
            "the script that draws the page as SVG is not built.", remedy="Run ./setup.sh page."
        ) from error


async def draw_svg(browser: Browser, folder: LessonFolder, path: Path, scene: Scene) -> bytes:
    """Draw the open page, which shows a moment of a recording, as SVG.

    Raises:
        InfraError: a part of the page cannot be drawn as SVG, or the result is not XML.
    """
    await browser.evaluate(script())
    words = words_of(folder, path, scene, str(await browser.evaluate(MOMENT)))
    given = json.dumps({"title": words.title, "desc": words.desc, "id": words.id})
    text = str(await browser.evaluate(f"duetSvg.picture({given})"))
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InfraError(
            "the SVG of the page is not well-formed.",
            remedy="Export to png, and report this with the recording.",
            detail=str(error),
        ) from error
    return text.encode()


# Films, encoded by ffmpeg.

FPS = {"gif": 12, "webm": 25}
FFMPEG_S = 300.0
"""Timeout for ffmpeg to take one frame, and to finish the film after the last frame."""
FILTERS = {
    "gif": ["-filter_complex", "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse"],
    "webm": ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"],
}
LIMITS = Limits(memory_bytes=FFMPEG_MEMORY_BYTES, cpu_s=FFMPEG_CPU_S, file_bytes=FFMPEG_FILE_BYTES)


async def encode_film(frames: AsyncIterator[bytes], to: str) -> bytes:
    """Encode PNG frames as a film with ffmpeg.

    Raises:
        InfraError: ffmpeg fails or takes too long.
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
                f"ffmpeg did not finish within {FFMPEG_S:.0f} s.",
                remedy="Make a shorter film.",
            ) from error
        content = await asyncio.to_thread(helper.read_file, made)
        if process.returncode or content is None:
            raise InfraError(
                f"ffmpeg could not create a {to}.",
                remedy="Use another format, or install Debian's ffmpeg.",
                detail=helper.errors.tail(),
            )
        return content


FORMATS = ("png", "svg", "gif", "webm")
MAX_FRAMES = 1500
WINDOW = re.compile(r"[?&]from=(-?[\d.]+)&for=([\d.]+)")
"""Pattern that matches the time window of a paused page in the page's URL."""
POLL_S = 0.1
PAUSED = """(() => {
  document.querySelector('[data-testid=veil] button')?.click();
  const play = document.querySelector('[data-testid=play]');
  if (play && !play.disabled && play.getAttribute('aria-label') === 'Pause') play.click();
  return location.search;
})()"""
"""JavaScript that pauses the page and returns its query string. It is evaluated repeatedly. It
clicks only while the page plays, because a click would start a page that is not playing yet. A
prediction's veil keeps the page from playing, so the script removes the veil first."""

BARE = """new Promise((done) => {
  const style = document.createElement('style');
  style.textContent =
    '.embed-foot :is(button, input, a) { visibility: hidden } ' +
    ':is(.lane-details, [data-embed] .legend) { display: none } ' +
    '.term { text-decoration: none; border: 0 }';
  const add = () => {
    if (!document.head) return setTimeout(add, 10);  // the page has only begun to load
    document.head.append(style);
    done(true);
  };
  add();
})"""
"""JavaScript that hides the controls, which a picture does not need. Moment and source stay
visible."""


@dataclass(frozen=True, slots=True)
class Shot:
    """Parameters of a picture or film.

    Args:
        step: name of a scene of the lesson. With '' the picture shows the front page's scene, or
            the first scene if the front page has none.
        at_ms: guest time of a picture since the workload's start; None for the scene's default.
        from_ms: start of a film, in guest time since the workload's start.
        to_ms: end of the film's range of guest time.
        seconds: duration of the film.
        arms: lanes to show; () for the scene's lanes.
        screen: viewport.
        align: alignment of the lanes; None for the scene's default.
        nth: number of the operation that aligns the lanes, counted from 1.
    """

    step: str = ""
    at_ms: float | None = None
    from_ms: float | None = None
    to_ms: float | None = None
    seconds: float = 5.0
    arms: tuple[str, ...] = ()
    screen: Screen = field(default_factory=Screen)
    align: str | None = None
    nth: int | None = None


def take_picture(target: Target, to: str, folder: LessonFolder, path: Path, shot: Shot) -> None:
    """Take a picture (png, svg) or a film (gif, webm) of a recording.

    Raises:
        InputError: there is no such step, or the range is invalid.
        InfraError: Chromium or ffmpeg is missing or fails.
    """
    scene_of(folder, shot.step)
    for arm in shot.arms:
        folder.arm(arm)
    frames = moments(shot, FPS[to]) if to in FPS else []
    if frames and shutil.which("ffmpeg") is None:
        raise InfraError(
            f"a {to} needs ffmpeg, which is not installed.",
            remedy="Run: sudo apt-get install --no-install-recommends ffmpeg.",
        )
    with RunDir() as scratch:
        out = _write_site(scratch, folder, path)
        content = asyncio.run(_render(out, to, folder, path, shot, frames))
    with target.file() as file:
        file.write(content)


def _write_site(scratch: Path, folder: LessonFolder, path: Path) -> Path:
    """Write a site with one recording to a private folder; return the site's folder."""
    site.write(site.check_site(scratch / "site"), folder, {"run": path})
    return scratch / "site"


async def take_still(folder: LessonFolder, path: Path, shot: Shot) -> bytes:
    """Take a picture of a recording without blocking the caller's event loop.

    Raises:
        InputError: the recording cannot be played.
        InfraError: Chromium or the built page is missing or fails.
    """
    find_chromium()  # without Chromium, fail before decoding
    with RunDir() as scratch:
        writing = asyncio.ensure_future(asyncio.to_thread(_write_site, scratch, folder, path))
        try:
            out = await asyncio.shield(writing)
        finally:  # if this task is cancelled, the thread still runs and needs its folder
            await asyncio.wait([writing])
        async with Browser(shot.screen) as browser:
            return await still(browser, out, folder, shot)


def scene_of(folder: LessonFolder, step: str) -> Scene:
    """Return the scene of a step.

    Args:
        step: the step's name. With '' the scene is the front page's, or the first scene if the
            front page has none.

    Raises:
        InputError: the lesson has no such step.
    """
    scenes = {scene.id: scene for scene in folder.lesson.scenes}
    name = step or folder.lesson.hero or next(iter(scenes), "")
    found = scene_called(folder.lesson.scenes, name)
    if found is None:
        raise InputError(
            f"lesson {folder.slug} has no step '{name:.60}'.",
            remedy=f"Choose from: {', '.join(scenes)}." if scenes else "It has no picture yet.",
        )
    return found


def moments(shot: Shot, fps: int) -> list[float]:
    """Return the guest times of a film's frames in ms.

    Raises:
        InputError: the range is missing, reversed or empty, or needs too many frames.
    """
    if shot.from_ms is None or shot.to_ms is None:
        raise InputError(
            "a film needs a range of guest time.",
            remedy="Set --from and --to-ms, for example to 5 and 40.",
        )
    if not shot.from_ms < shot.to_ms:
        raise InputError(
            f"a film from {shot.from_ms:g} to {shot.to_ms:g} ms has no length.",
            remedy="Set --from to a smaller number than --to-ms.",
        )
    count = max(2, round(shot.seconds * fps))
    if count > MAX_FRAMES:
        raise InputError(
            f"{shot.seconds:g} s take {count} frames, but only {MAX_FRAMES} are allowed.",
            remedy=f"Set --seconds to at most {MAX_FRAMES // fps}.",
        )
    length = shot.to_ms - shot.from_ms
    return [shot.from_ms + length * frame / (count - 1) for frame in range(count)]


def address(folder: LessonFolder, shot: Shot, at_ms: float | None, *, embed: bool = True) -> str:
    """Return the query string with which the page shows a moment of a recording.

    Args:
        at_ms: guest time of the moment; None if the page plays the scene.
        embed: show the page as it looks when it is embedded.
    """
    query: dict[str, str] = {"lesson": folder.slug, "step": scene_of(folder, shot.step).id}
    query["lang"] = "en"  # otherwise the page would use the host's language
    if at_ms is not None:
        query["at"] = f"{at_ms:.6f}"
    if shot.from_ms is not None and shot.to_ms is not None:
        query |= {"from": f"{shot.from_ms:.6f}", "for": f"{shot.to_ms - shot.from_ms:.6f}"}
    if shot.arms:
        query["arms"] = ",".join(shot.arms)
    if shot.align is not None:
        query["align"] = shot.align
    if shot.nth is not None:
        query["n"] = str(shot.nth)
    if embed:
        query["embed"] = "1"
    return "?" + urlencode(query, safe=",:")


async def _render(
    out: Path, to: str, folder: LessonFolder, path: Path, shot: Shot, frames: list[float]
) -> bytes:
    async with Browser(shot.screen) as browser:
        if to == "png":
            return await still(browser, out, folder, shot)
        if to == "svg":
            await open_moment(browser, out, folder, shot)
            return await draw_svg(browser, folder, path, scene_of(folder, shot.step))
        return await encode_film(film_frames(browser, out, folder, shot, frames), to)


async def still(browser: Browser, out: Path, folder: LessonFolder, shot: Shot) -> bytes:
    """Take a picture of the site in a folder."""
    await open_moment(browser, out, folder, shot)
    return await browser.screenshot()


async def open_moment(browser: Browser, out: Path, folder: LessonFolder, shot: Shot) -> None:
    """Open a site's page at the moment of a picture, and wait until the page is idle."""
    page = await browser.uri(out / "index.html")
    at_ms = shot.at_ms if shot.at_ms is not None else shot.from_ms
    if at_ms is None:
        at_ms = await usual_moment(browser, page + address(folder, shot, None, embed=False))
    await browser.open(page + address(folder, shot, at_ms))
    # This hides the legend, so the stage grows. The wait must therefore come afterwards.
    await browser.evaluate(BARE)
    await browser.wait_until_idle()


async def usual_moment(browser: Browser, url: str) -> float:
    """Return the default moment in ms: three quarters through the scene's window.

    Raises:
        InfraError: the page shows nothing within IDLE_S.
    """
    await browser.open(url)
    for _ in range(round(IDLE_S / POLL_S)):
        found = WINDOW.search(str(await browser.evaluate(PAUSED)))
        if found:
            return float(found[1]) + 0.75 * float(found[2])
        await asyncio.sleep(POLL_S)
    raise InfraError(
        f"the page has shown nothing within {IDLE_S:.0f} s.",
        remedy="Choose a moment with --at, or open the site in a browser.",
    )


async def film_frames(
    browser: Browser, out: Path, folder: LessonFolder, shot: Shot, frames: list[float]
) -> AsyncIterator[bytes]:
    """Yield the frames of a film. The page loads once, then navigates by popstate events."""
    page = await browser.uri(out / "index.html")
    await browser.open(page + address(folder, shot, frames[0]))
    # This hides the legend, so the stage grows. The wait must therefore come afterwards.
    await browser.evaluate(BARE)
    await browser.wait_until_idle()
    for at_ms in frames:
        where = json.dumps(address(folder, shot, at_ms))
        await browser.evaluate(
            f"history.replaceState(null, '', {where}); dispatchEvent(new PopStateEvent('popstate'))"
        )
        await browser.wait_until_idle()
        yield await browser.screenshot()


def picture_of(out: Path, folder: LessonFolder) -> bytes:
    """Take a site's picture for browsers in which scripts are disabled."""
    shot = Shot()

    async def taken() -> bytes:
        async with Browser(shot.screen) as browser:
            await open_moment(browser, out, folder, shot)
            return await browser.screenshot("webp")

    return asyncio.run(taken())
