# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson with its recordings as a folder that plays without a server.

The built page, and in its folder, as scripts, the very messages that a server would send: the
page takes them through the code that reads the socket. Scripts, since a page that a browser opened
as a file may read no other files.
"""

from __future__ import annotations

import asyncio
import base64
import html
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.export.scene import NAME, Target
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import outline
from duet.lessons.translations import languages
from duet.messages.codec import Packet
from duet.runs.fitting import Entry, best_recording
from duet.server.director import Director
from duet.server.hosts import HostStage
from duet.server.lessons import words_of
from duet.server.recordings import ChosenRecordings
from duet.stream.hub import Hub, Viewer
from duet.stream.packets import packed, packed_bytes

LIST = "site.js"
MARK = "globalThis.duetSite = "
PICTURE = "picture.webp"
SITE_BYTES = 3_000_000
"""So large a folder is handed round without a thought."""
PICTURE_BYTES = 80_000
"""Kept free for the picture, which is made last."""
PAGE_WORDS = "frontend/src/lang"
"""The page's own words in each language but English; a site has those that its lesson has."""
VIEW_WORDS = "view/lang"
"""In the folder of a lesson: those of its own picture."""
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: data: blob:; font-src 'self' file: data:; worker-src 'self' blob:; "
    "connect-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""The site's own files and nothing else, also where it is opened as a file."""


class NoKernels:
    """A page without a server has no kernels (see server.interfaces.Kernels)."""

    def ready(self, slug: str) -> dict[str, bool]:
        return {arm.name: False for arm in lessons.load(slug).lesson.arms}

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        """Nothing is to be built."""
        return False

    def latest(self) -> list[m.ServerMessage]:
        """Nothing is being built."""
        return []

    async def work(self, tell: Callable[[m.ServerMessage], None]) -> None:
        """Nothing is to be built."""


@dataclass(frozen=True, slots=True)
class SitePackets:
    """What a server tells of a lesson: to anyone, of the lesson, of each run."""

    greeting: list[Packet]
    lesson: list[Packet]
    runs: dict[str, list[Packet]]


async def site_packets(slug: str, recordings: ChosenRecordings) -> SitePackets:
    """Open a lesson and its recordings as a browser does, and keep every message.

    Raises:
        InputError: a recording cannot be played.
    """
    hub = Hub()
    stage = HostStage(None)
    director = Director(hub, stage, recordings, NoKernels(), builds=False, live=False, services=())
    viewer = hub.join()
    director.greet(viewer)
    sent = SitePackets(taken(viewer), [], {})
    for name in recordings.paths(slug):
        run_id = f"recorded:{slug}:{name}"
        await director.find_run(run_id)  # whole, before anybody looks
        await director.command(viewer, m.Open(type="open", lesson=slug, run=run_id))
        packets = taken(viewer)
        sent.lesson[:] = [packet for packet in packets if packet.type in m.lasting_types()]
        sent.runs[run_id] = [packet for packet in packets if packet.type not in m.lasting_types()]
    return sent


def fitting_runs(folder: LessonFolder, listing: Sequence[Entry]) -> dict[str, str]:
    """Step -> the run that a server would show there, the lesson's first step first."""
    best = {s.id: best_recording(folder, s, listing) for s in folder.lesson.scenes}
    former = {old: best[s.id] for s in folder.lesson.scenes for old in s.was}
    named = (best | former).items()
    return {step: f"recorded:{folder.slug}:{name}" for step, name in named if name}


def taken(viewer: Viewer) -> list[Packet]:
    """All that waits for a viewer."""
    packets: list[Packet] = []
    while (packet := viewer.outbox.pop()) is not None:
        packets.append(packet)
    return packets


def write(target: Target, folder: LessonFolder, chosen: Mapping[str, Path]) -> list[str]:
    """Write the site; the folder must have been checked with check_site.

    Args:
        chosen: name -> recording; the first is shown first.

    Returns:
        Languages of the lesson that found no room.

    Raises:
        InputError: a recording cannot be played.
        InfraError: the page is not built, or a file cannot be written.
    """
    page = built_page()
    slug = folder.slug
    recordings = ChosenRecordings(slug, chosen)
    sent = asyncio.run(site_packets(slug, recordings))
    parts = {"greeting": "greeting.js", "lesson": "lesson.js"}
    texts = {"greeting": part(sent.greeting), "lesson": part(sent.lesson)}
    for name, run_id in zip(chosen, sent.runs, strict=True):
        parts[run_id] = f"run-{name}.js"
        texts[run_id] = part(sent.runs[run_id])
    bundle = f"{next(iter(chosen))}.duet" if len(chosen) == 1 else None
    for name, content in page.items():
        put(target, name, content)
    put(target, "icon.svg", (repo_root() / "frontend/src/ui/icon.svg").read_bytes())
    for name, text in texts.items():
        put_part(target, parts[name], name, text)
    if bundle is not None:
        put(target, bundle, chosen[bundle.removesuffix(".duet")].read_bytes())
    left_out = []
    for language, text in translated(folder).items():
        if sum(target.written.values()) + PICTURE_BYTES + len(text) > SITE_BYTES:
            left_out.append(language)
            continue
        name = f"words-{language}"
        parts[name] = f"{name}.js"
        put_part(target, parts[name], name, text)
    listed: dict[str, object] = {
        "lesson": slug,
        "first": next(iter(sent.runs)),
        "steps": fitting_runs(folder, recordings.listing(slug)),
        "bundle": bundle,
        "parts": parts,
        "files": [*page, "index.html", "icon.svg", *parts.values()],
        "brought": {},
    }
    put(target, LIST, f"{MARK}{json.dumps(listed, indent=1)};\n".encode())
    put(target, "index.html", index_html(folder, False).encode())
    return left_out


def translated(folder: LessonFolder) -> dict[str, str]:
    """Language -> the words of the page and of the lesson; of each that both have."""
    found = {}
    for language in languages(folder):
        page = page_words(language, folder)
        if page:
            lesson_words = words_of([folder], language).decode()
            words = f'{{"page":{json.dumps(page, ensure_ascii=False)},"lessons":{lesson_words}}}'
            packed_words = packed_bytes([words.encode()], 9)
            found[language] = base64.b64encode(packed_words).decode()
    return found


def page_words(language: str, folder: LessonFolder) -> dict[str, str]:
    """What the page says without a server, on this lesson (frontend/src/lang/parts.ts)."""
    places = [repo_root() / PAGE_WORDS / language / "page.json"]
    if (home := home_of_view(folder)) is not None:
        places.append(home / VIEW_WORDS / f"{language}.json")
    words: dict[str, str] = {}
    for file in places:
        if file.is_file():
            words |= json.loads(file.read_text("utf-8"))
    return words


def home_of_view(folder: LessonFolder) -> Path | None:
    """The folder of the lesson whose own picture this lesson has; None: the view is everybody's."""
    others = (lessons.load(slug) for slug in lessons.slugs() if slug != folder.slug)
    for one in itertools.chain([folder], others):
        if one.lesson.view == folder.lesson.view and (one.folder / VIEW_WORDS).is_dir():
            return one.folder
    return None


def part(packets: Iterable[Packet]) -> str:
    """A part's bytes for its script; equal messages give equal text."""
    return base64.b64encode(packed(packets, 9)).decode()


def add_picture(target: Target, folder: LessonFolder, picture: bytes) -> None:
    """What is shown where scripts are off."""
    put(target, PICTURE, picture)
    put(target, "index.html", index_html(folder, True).encode())


def put_part(target: Target, file: str, name: str, text: str) -> None:
    """A part as the script that brings it."""
    script = f"duetSite.brought[{json.dumps(name)}] = {json.dumps(text)};\n"
    put(target, file, script.encode())


def put(target: Target, name: str, content: bytes) -> None:
    with target.file(name) as file:
        file.write(content)


def built_page() -> dict[str, bytes]:
    """The files of the built page, by name; read at once, since a build may begin meanwhile.

    Raises:
        InfraError: it is not built, or is being built just now.
    """
    folder = repo_root() / "frontend/dist/site"
    try:
        page = {path.name: path.read_bytes() for path in sorted(folder.glob("*.*"))}
    except OSError:
        page = {}
    if not {"page.js", "page.css"} <= set(page):
        raise InfraError(
            "the page that a site is made of is not built.", remedy="Run ./setup.sh page."
        )
    return page


def check_site(out: Path) -> Target:
    """A folder that takes a site: a new or empty one, or that of an earlier export.

    Raises:
        InputError: it has other things in it, or is no folder.
    """
    listed = earlier_files(out)
    if not listed:
        Target(out).check_folder()
    for name in listed:
        (out / name).unlink(missing_ok=True)
    return Target(out, force=True)


def earlier_files(out: Path) -> list[str]:
    """What an earlier export wrote into a folder that has nothing else in it; empty: no export.

    Raises:
        InputError: the folder has other things, too.
    """
    marked = out / LIST
    if not marked.is_file() or marked.is_symlink():
        return []
    try:
        tree = json.loads(marked.read_text().removeprefix(MARK).rstrip(";\n"))
        listed = {str(name) for name in tree["files"] if NAME.match(str(name))}
        bundle = str(tree["bundle"])
    except (ValueError, KeyError, TypeError, OSError):
        return []
    listed |= {LIST, PICTURE, *({bundle} if NAME.match(bundle) else set())}
    there = {path.name: path for path in out.iterdir()}
    known = {name for name in listed if name in there and not there[name].is_dir()}
    if others := sorted(set(there) - known):
        raise InputError(
            f"the folder {out} has more in it than an earlier export: {others[0][:60]!r}.",
            remedy="Name a new folder, or take the other files out of it.",
        )
    return sorted(known)


def index_html(folder: LessonFolder, picture: bool) -> str:
    """The page's own page; it says what it is where scripts are off."""
    lesson = folder.lesson
    scene = next((s for s in lesson.scenes if s.id == lesson.hero), lesson.scenes[0])
    title, question = html.escape(lesson.title), html.escape(lesson.question)
    shown = f'<img src="{PICTURE}" alt="{html.escape(scene.title)}" style="max-width: 100%">'
    return f"""<!doctype html>
<!-- SPDX-License-Identifier: GPL-2.0-or-later; notices of bundled packages: licenses.md -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{question}">
<link rel="icon" type="image/svg+xml" href="icon.svg">
<link rel="stylesheet" href="page.css">
<title>{title}</title>
</head>
<body>
<div id="root"></div>
<noscript>
<main style="max-width: 60em; margin: 2em auto; padding: 0 1em">
<h1>{question}</h1>
<p>{html.escape(lesson.summary)}</p>
{shown if picture else ""}
<p>This page moves with JavaScript, which is switched off here.</p>
{outline(folder)}
</main>
</noscript>
<script src="{LIST}"></script>
<script defer src="page.js"></script>
</body>
</html>
"""
