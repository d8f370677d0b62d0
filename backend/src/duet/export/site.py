# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a lesson with its recordings as a static site, which needs no server.

The folder contains the built page, and scripts with the messages that a server would send. The page
handles these messages with the code that handles WebSocket messages. The messages are stored as
scripts, because a page that was opened as a file may load no other types of files.
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
"""Largest size of the site with translations: translations that exceed it are left out. A folder of
this size is easy to share.
"""
PICTURE_BYTES = 80_000
"""Size reserved for the picture, which is added last."""
PAGE_WORDS = "frontend/src/lang"
"""Folder of the page's translation catalogues. A site has the languages that its lesson has."""
VIEW_WORDS = "view/lang"
"""Folder of the translation catalogues for a lesson's view, below the lesson's folder."""
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: data: blob:; font-src 'self' file: data:; worker-src 'self' blob:; "
    "connect-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""Content security policy: the page may load only the site's files, even if it was opened as a
file."""


class NoKernels:
    """Implementation of server.interfaces.Kernels for a process without kernels."""

    def ready(self, slug: str) -> dict[str, bool]:
        return {arm.name: False for arm in lessons.load(slug).lesson.arms}

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        return False

    def latest(self) -> list[m.ServerMessage]:
        return []

    async def work(self, tell: Callable[[m.ServerMessage], None]) -> None:
        """Return immediately, because there is nothing to build."""


@dataclass(frozen=True, slots=True)
class SitePackets:
    """Messages that a server would send: at the start, for the lesson, and for each run by id."""

    greeting: list[Packet]
    lesson: list[Packet]
    runs: dict[str, list[Packet]]


async def site_packets(slug: str, recordings: ChosenRecordings) -> SitePackets:
    """Open a lesson and its recordings as a browser does, and collect all messages.

    Raises:
        InputError: a recording cannot be played.
    """
    hub = Hub()
    stage = HostStage(None)
    director = Director(hub, stage, recordings, NoKernels(), builds=False, live=False, services=())
    viewer = hub.join()
    director.greet(viewer)
    sent = SitePackets(drain_outbox(viewer), [], {})
    for name in recordings.paths(slug):
        run_id = f"recorded:{slug}:{name}"
        await director.find_run(run_id)  # decodes the complete recording
        await director.command(viewer, m.Open(type="open", lesson=slug, run=run_id))
        packets = drain_outbox(viewer)
        sent.lesson[:] = [packet for packet in packets if packet.type in m.lasting_types()]
        sent.runs[run_id] = [packet for packet in packets if packet.type not in m.lasting_types()]
    return sent


def fitting_runs(folder: LessonFolder, listing: Sequence[Entry]) -> dict[str, str]:
    """Return step -> id of the run that a server would show, in the order of the lesson's steps."""
    best = {s.id: best_recording(folder, s, listing) for s in folder.lesson.scenes}
    former = {old: best[s.id] for s in folder.lesson.scenes for old in s.was}
    named = (best | former).items()
    return {step: f"recorded:{folder.slug}:{name}" for step, name in named if name}


def drain_outbox(viewer: Viewer) -> list[Packet]:
    """Remove and return all queued packets of a viewer."""
    packets: list[Packet] = []
    while (packet := viewer.outbox.pop()) is not None:
        packets.append(packet)
    return packets


def write(target: Target, folder: LessonFolder, chosen: Mapping[str, Path]) -> list[str]:
    """Write the site to the target that `check_site` returned.

    Args:
        chosen: name -> recording file; the site shows the first recording first.

    Returns:
        Languages of the lesson that were left out because of SITE_BYTES.

    Raises:
        InputError: a recording cannot be played.
        InfraError: the page is not built, or a file cannot be written.
    """
    page = built_page()
    slug = folder.slug
    recordings = ChosenRecordings(slug, chosen)
    sent = asyncio.run(site_packets(slug, recordings))
    parts = {"greeting": "greeting.js", "lesson": "lesson.js"}
    texts = {"greeting": encode_packets(sent.greeting), "lesson": encode_packets(sent.lesson)}
    for name, run_id in zip(chosen, sent.runs, strict=True):
        parts[run_id] = f"run-{name}.js"
        texts[run_id] = encode_packets(sent.runs[run_id])
    bundle = f"{next(iter(chosen))}.duet" if len(chosen) == 1 else None
    for name, content in page.items():
        write_file(target, name, content)
    write_file(target, "icon.svg", (repo_root() / "frontend/src/ui/icon.svg").read_bytes())
    for name, text in texts.items():
        write_part(target, parts[name], name, text)
    if bundle is not None:
        write_file(target, bundle, chosen[bundle.removesuffix(".duet")].read_bytes())
    left_out = []
    for language, text in translated_words(folder).items():
        if sum(target.written.values()) + PICTURE_BYTES + len(text) > SITE_BYTES:
            left_out.append(language)
            continue
        name = f"words-{language}"
        parts[name] = f"{name}.js"
        write_part(target, parts[name], name, text)
    listed: dict[str, object] = {
        "lesson": slug,
        "first": next(iter(sent.runs)),
        "steps": fitting_runs(folder, recordings.listing(slug)),
        "bundle": bundle,
        "parts": parts,
        "files": [*page, "index.html", "icon.svg", *parts.values()],
        "brought": {},
    }
    write_file(target, LIST, f"{MARK}{json.dumps(listed, indent=1)};\n".encode())
    write_file(target, "index.html", index_html(folder, False).encode())
    return left_out


def translated_words(folder: LessonFolder) -> dict[str, str]:
    """Return encoded catalogues by language, for each language that both page and lesson have."""
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
    """Return the catalogue that a lesson's page needs without a server.

    The catalogue has the parts that frontend/src/lang/parts.ts lists.
    """
    places = [repo_root() / PAGE_WORDS / language / "page.json"]
    if (home := home_of_view(folder)) is not None:
        places.append(home / VIEW_WORDS / f"{language}.json")
    words: dict[str, str] = {}
    for file in places:
        if file.is_file():
            words |= json.loads(file.read_text("utf-8"))
    return words


def home_of_view(folder: LessonFolder) -> Path | None:
    """Return the folder of the lesson that defines this lesson's view; None for a shared view."""
    others = (lessons.load(slug) for slug in lessons.slugs() if slug != folder.slug)
    for one in itertools.chain([folder], others):
        if one.lesson.view == folder.lesson.view and (one.folder / VIEW_WORDS).is_dir():
            return one.folder
    return None


def encode_packets(packets: Iterable[Packet]) -> str:
    """Encode packets as base64 text. Identical messages give identical text."""
    return base64.b64encode(packed(packets, 9)).decode()


def add_picture(target: Target, folder: LessonFolder, picture: bytes) -> None:
    """Add the picture that is shown if scripts are disabled."""
    write_file(target, PICTURE, picture)
    write_file(target, "index.html", index_html(folder, True).encode())


def write_part(target: Target, file: str, name: str, text: str) -> None:
    """Write a part of the site as a script that assigns `text` to `name` in `duetSite.brought`."""
    script = f"duetSite.brought[{json.dumps(name)}] = {json.dumps(text)};\n"
    write_file(target, file, script.encode())


def write_file(target: Target, name: str, content: bytes) -> None:
    with target.file(name) as file:
        file.write(content)


def built_page() -> dict[str, bytes]:
    """Read all files of the built page, by name, before a concurrent build can change them.

    Raises:
        InfraError: the page is not built, or a build is in progress.
    """
    folder = repo_root() / "frontend/dist/site"
    try:
        page = {path.name: path.read_bytes() for path in sorted(folder.glob("*.*"))}
    except OSError:
        page = {}
    if not {"page.js", "page.css"} <= set(page):
        raise InfraError("the page for static sites is not built.", remedy="Run ./setup.sh page.")
    return page


def check_site(out: Path) -> Target:
    """Prepare a folder for a site: a new or empty folder, or the folder of an earlier export.

    Files of an earlier export are deleted.

    Raises:
        InputError: the folder contains other files, or is not a folder.
    """
    listed = earlier_files(out)
    if not listed:
        Target(out).check_folder()
    for name in listed:
        (out / name).unlink(missing_ok=True)
    return Target(out, force=True)


def earlier_files(out: Path) -> list[str]:
    """Return the files of an earlier export in a folder; [] if it is not an export.

    Raises:
        InputError: the folder also contains other files.
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
            f"the folder {out} should contain only an earlier export, but also has "
            f"{others[0][:60]!r}.",
            remedy="Name a new folder, or move the other files elsewhere.",
        )
    return sorted(known)


def index_html(folder: LessonFolder, picture: bool) -> str:
    """Return index.html, with a summary and an outline for browsers without scripts."""
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
<p>This page needs JavaScript, which is disabled in this browser.</p>
{outline(folder)}
</main>
</noscript>
<script src="{LIST}"></script>
<script defer src="page.js"></script>
</body>
</html>
"""
