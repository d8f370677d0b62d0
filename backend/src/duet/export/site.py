# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a lesson with its recordings as a static site, which needs no server.

The folder contains the built page, and scripts with the messages that a server would send. The page
handles these messages with the code that handles WebSocket messages. The messages are stored as
scripts, because a page that was opened as a file may not load files of other types.

Names of files contain a hash of the content, except names that people or other pages use. A web
server may tell browsers to keep the files with a hash forever. After the first picture, the page
starts a service worker, which stores all files of the site for visits without a network.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.export.scene import NAME, Target
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import outline
from duet.lessons.schema import Scene
from duet.lessons.translations import languages
from duet.messages.codec import Packet
from duet.runs.fitting import Entry, best_recording
from duet.server.director import Director
from duet.server.hosts import HostStage
from duet.server.lessons import words_of
from duet.server.recordings import ChosenRecordings
from duet.stream.hub import Hub, Viewer
from duet.stream.packets import DELTAS, SIZE, small

LIST = "site.js"
MARK = "globalThis.duetSite = "
PICTURE = "picture.webp"
SITE_BYTES = 3_000_000
"""Largest size of the site with translations, without cells of a grid: translations that exceed it
are left out. A folder of this size is easy to share.
"""
GRID_BYTES = 2_000_000
"""Largest size of the cells of a grid: recordings that were made for all settings of a knob."""
HASH_DIGITS = 10
GZIP_BITS = 16 + zlib.MAX_WBITS
"""Value for zlib that means the format of gzip, without a time."""
SCRIPTS = ("frontend/src/main.tsx", "frontend/src/app.tsx")
"""Source files whose scripts index.html loads, with the view of the lesson. The entry is first."""
CHUNKS = "chunks.json"
"""List of the built page's scripts, by frontend/tools/classic-chunks.ts."""
VIEW = re.compile(r"^lessons/[^/]+/view/index\.tsx$")
WORKER = "sw.js"
"""Service worker that stores the files of the site."""
WORKER_SOURCE = "frontend/src/site-worker.js"
PLAIN_NAMES = frozenset({"kernel-duet.js", "licenses.md"})
"""Files of the built page whose names people or other pages use."""
PICTURE_PLACE = "<!-- picture -->"
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
    page = page_of(built_page(), home_of_view(folder))
    slug = folder.slug
    recordings = ChosenRecordings(slug, chosen)
    sent = asyncio.run(site_packets(slug, recordings))
    site = SiteFiles(target)
    for name, content in page.files.items():
        site.add(name, content, lasting=name in page.hashed)
    site.add("icon.svg", (repo_root() / "frontend/src/ui/icon.svg").read_bytes())
    site.add_part("greeting", "greeting", encode_packets(sent.greeting))
    site.add_part("lesson", "lesson", encode_packets(sent.lesson))
    cells = {path.stem for path in folder.cells()}
    cell_bytes = 0
    for name, run_id in zip(chosen, sent.runs, strict=True):
        text = encode_packets(sent.runs[run_id])
        site.add_part(run_id, f"run-{name}", text)
        cell_bytes += len(text) if name in cells else 0
    if cell_bytes > GRID_BYTES:
        raise InputError(
            f"the cells of the grid take {cell_bytes:,} bytes, which is more than {GRID_BYTES:,}.",
            remedy="Record fewer or shorter cells.",
        )
    bundle = f"{next(iter(chosen))}.duet" if len(chosen) == 1 else None
    if bundle is not None:
        site.add(bundle, chosen[bundle.removesuffix(".duet")].read_bytes())
    left_out = []
    for language, text in translated_words(folder).items():
        needed = sum(target.written.values()) - cell_bytes + PICTURE_BYTES + len(text)
        if needed > SITE_BYTES:
            left_out.append(language)
            continue
        site.add_part(f"words-{language}", f"words-{language}", text)
    listed: dict[str, object] = {
        "lesson": slug,
        "first": next(iter(sent.runs)),
        "steps": fitting_runs(folder, recordings.listing(slug)),
        "bundle": bundle,
        "fonts": page.fonts,
        "worker": WORKER,
        "parts": site.parts,
        "files": [*page.files, "index.html", "icon.svg", WORKER, *site.parts.values()],
        "brought": {},
    }
    site.add(LIST, f"{MARK}{json.dumps(listed, indent=1)};\n".encode())
    scripts = [site.parts["greeting"], site.parts["lesson"], page.script]
    site.add("index.html", index_html(folder, page.style, scripts).encode())
    site.add_worker()
    return left_out


class SiteFiles:
    """Files of a site that were written, for the service worker.

    Args:
        target: where files are written.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.parts: dict[str, str] = {}
        """Part -> file name of its script."""
        self._lasting: list[str] = []
        self._changing: list[str] = []
        self._digest = hashlib.sha256()

    def add(self, name: str, content: bytes, *, lasting: bool = False) -> None:
        """Write a file.

        Args:
            lasting: the name contains a hash of the content.
        """
        write_file(self._target, name, content)
        (self._lasting if lasting else self._changing).append(name)
        self._digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())

    def add_part(self, part: str, stem: str, text: str) -> None:
        """Write a script that assigns `text` to `part` in `duetSite.brought`."""
        script = f"duetSite.brought[{json.dumps(part)}] = {json.dumps(text)};\n".encode()
        name = hashed_name(f"{stem}.js", script)
        self.parts[part] = name
        self.add(name, script, lasting=True)

    def add_worker(self) -> None:
        """Write the service worker. Its content changes whenever a file changes, so browsers load
        it again."""
        listed = {
            "version": self._digest.hexdigest()[:HASH_DIGITS],
            "lasting": self._lasting,
            "changing": self._changing,
        }
        code = (repo_root() / WORKER_SOURCE).read_text("utf-8")
        script = f"const site = {json.dumps(listed, indent=1)};\n{code}"
        write_file(self._target, WORKER, script.encode())


@dataclass(frozen=True, slots=True)
class Page:
    """Files of the built page that a lesson needs.

    Args:
        files: name -> content.
        hashed: names that contain a hash of the content.
        script: script that index.html loads. It contains the chunks of the first picture.
        style: style sheet that index.html loads. It contains the style sheets of these chunks.
        fonts: style sheet that the page adds after the first picture.
    """

    files: Mapping[str, bytes]
    hashed: frozenset[str]
    script: str
    style: str
    fonts: str


def page_of(built: Mapping[str, bytes], home: Path | None) -> Page:
    """Choose the files of the built page for a lesson.

    Args:
        home: folder of the lesson that defines the view; None for a shared view.

    Raises:
        InfraError: the page is not built, or a build is in progress.
    """
    try:
        facts: dict[str, dict[str, Any]] = json.loads(built[CHUNKS])
        chunks = {module: name for name, fact in facts.items() for module in fact["modules"]}
        entry, *others = [chunks[module] for module in SCRIPTS]
        views = {name for module, name in chunks.items() if VIEW.match(module)}
        own = {chunks[f"lessons/{home.name}/view/index.tsx"]} if home else set()
        first: list[str] = []
        needed: list[str] = []
        for name in (*others, *own, entry):
            add_chunk(first, name, facts, ("imports",), frozenset())
            add_chunk(needed, name, facts, ("imports", "later"), views - own)
        styles = [name for chunk in (entry, *first) for name in facts[chunk]["styles"]]
        (fonts,) = (name for name in built if name.startswith("fonts-") and name.endswith(".css"))
    except (KeyError, ValueError) as error:
        raise InfraError(
            "the page for static sites is not built.", remedy="Run ./setup.sh page."
        ) from error
    workers = {name for fact in facts.values() for name in fact["workers"]}
    sheets = {name for fact in facts.values() for name in fact["styles"]}
    used = {
        *needed,
        *(
            name
            for chunk in needed
            for link in ("workers", "styles")
            for name in facts[chunk][link]
        ),
    }
    files = {
        name: content
        for name, content in built.items()
        if name != CHUNKS and (name in used or name not in {*facts, *workers, *sheets})
    }
    # Chunks register themselves, so they can be joined. The entry chunk runs the other chunks, so
    # it comes last.
    joined = b"".join(files.pop(name) for name in (*(n for n in first if n != entry), entry))
    script = hashed_name("page.js", joined)
    files[script] = joined
    style_sheet = b"".join(files.pop(name) for name in dict.fromkeys(styles))
    style = hashed_name("page.css", style_sheet)
    files[style] = style_sheet
    return Page(files, frozenset(files) - PLAIN_NAMES, script, style, fonts)


def hashed_name(name: str, content: bytes) -> str:
    """Return a file's name with a hash of its content: page.js becomes page-0123456789.js."""
    stem, end = name.rsplit(".", 1)
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}.{end}"


def add_chunk(
    found: list[str],
    name: str,
    facts: Mapping[str, Mapping[str, Any]],
    links: Sequence[str],
    without: Set[str],
) -> None:
    """Append a chunk and all chunks that it needs."""
    if name in found or name in without:
        return
    found.append(name)
    for link in links:
        for other in facts[name][link]:
            add_chunk(found, other, facts, links, without)


def translated_words(folder: LessonFolder) -> dict[str, str]:
    """Return encoded catalogues by language, for each language that both page and lesson have."""
    found = {}
    for language in languages(folder):
        page = page_words(language, folder)
        if page:
            lesson_words = words_of([folder], language).decode()
            words = f'{{"page":{json.dumps(page, ensure_ascii=False)},"lessons":{lesson_words}}}'
            found[language] = base64.b64encode(shortest([words.encode()])).decode()
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
    bodies = (
        chained(small(packet.body), packet.body) if packet.type == "batch" else packet.body
        for packet in packets
    )
    return base64.b64encode(shortest(bodies)).decode()


def shortest(bodies: Iterable[bytes]) -> bytes:
    """Compress like `packed_bytes`, but try two block sizes, and return the smaller result.

    Numbers and texts compress best with different block sizes.
    """
    framed = b"".join(SIZE.pack(len(body)) + body for body in bodies)
    made = []
    for memory_level in (5, 9):
        packer = zlib.compressobj(9, zlib.DEFLATED, GZIP_BITS, memory_level)
        made.append(packer.compress(framed) + packer.flush())
    return min(made, key=len)


def chained(coded: bytes, plain: bytes) -> bytes:
    """Encode the starts of spans as gaps, most of which are 0: packed runs get 10 % smaller.

    A gap is the time since the end of the preceding span of the same row. A span with a negative
    gap contains that span, and its end is not used for the next gap. Gaps of the same kind are
    stored together. The page reverses this (frontend/src/protocol/decode.ts).

    Args:
        coded: a batch whose columns are differences.
        plain: the same batch, with values instead of differences.
    """
    batch: dict[str, Any] = msgpack.unpackb(coded)
    if not {"t0_ns", "t1_ns", "row"} <= set(batch[DELTAS]):
        return coded
    columns, dtypes = msgpack.unpackb(plain)["columns"], batch["dtypes"]
    starts, ends, rows = (
        np.frombuffer(columns[name], f"<{dtypes[name]}").astype("<i8").tolist()
        for name in ("t0_ns", "t1_ns", "row")
    )
    last: dict[int, int] = {}
    gaps = []
    for start, end, row in zip(starts, ends, rows, strict=True):
        gap = start - last.get(row, 0)
        if gap >= 0:
            last[row] = end
        gaps.append(gap)
    ordered = np.array(gaps, "<i8")
    if "kind" in columns:
        kinds = np.frombuffer(columns["kind"], f"<{dtypes['kind']}")
        ordered = ordered[np.argsort(kinds, kind="stable")]
    shuffled = ordered.view(np.uint8).reshape(-1, 8).T.tobytes()
    changed = {**batch["columns"], "t0_ns": shuffled}
    return bytes(msgpack.packb({**batch, "columns": changed, "chained": True}))


def add_picture(target: Target, folder: LessonFolder, picture: bytes) -> None:
    """Add the picture that is shown if scripts are disabled."""
    scene = hero_of(folder)
    shown = f'<img src="{PICTURE}" alt="{html.escape(scene.title)}" style="max-width: 100%">'
    index = (target.path / "index.html").read_text("utf-8")
    write_file(target, PICTURE, picture)
    write_file(target, "index.html", index.replace(PICTURE_PLACE, shown).encode())


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
    if CHUNKS not in page:
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


def hero_of(folder: LessonFolder) -> Scene:
    """Return the scene that stands for the lesson."""
    lesson = folder.lesson
    return next((s for s in lesson.scenes if s.id == lesson.hero), lesson.scenes[0])


def index_html(folder: LessonFolder, style: str, scripts: Sequence[str]) -> str:
    """Return index.html, with a summary and an outline for browsers without scripts.

    Args:
        style: file name of the style sheet.
        scripts: file names of the scripts, in order.
    """
    lesson = folder.lesson
    title, question = html.escape(lesson.title), html.escape(lesson.question)
    loaded = "\n".join(f'<script defer src="{name}"></script>' for name in scripts)
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
<link rel="stylesheet" href="{style}">
<script src="{LIST}"></script>
{loaded}
<title>{title}</title>
</head>
<body>
<div id="root"></div>
<noscript>
<main style="max-width: 60em; margin: 2em auto; padding: 0 1em">
<h1>{question}</h1>
<p>{html.escape(lesson.summary)}</p>
{PICTURE_PLACE}
<p>This page needs JavaScript, which is disabled in this browser.</p>
{outline(folder)}
</main>
</noscript>
</body>
</html>
"""
