# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet export`: writes a recording as a web page, as pictures, or in formats for other
programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InfraError, InputError
from duet.cli.keys import keys_text
from duet.cli.options import Json, find_recording
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.export.pictures import Shot
    from duet.lessons.load import LessonFolder


@dataclass(frozen=True, slots=True)
class ExportedFile:
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportResult:
    file: str
    to: str
    files: Sequence[ExportedFile]


KEYS = keys_text(ExportResult)


def export(
    run: Annotated[
        str,
        typer.Argument(
            help="A .duet file, a run of ./duet runs, or LESSON/NAME. For a site or pdf also "
            "LESSON: all of its recordings."
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(help="A file (pdf, pictures, perfetto) or a folder (site, trace.dat, csv)."),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="site: a folder that plays in any browser without a server; pdf: the "
            "slides of present mode, one per page; png, svg, gif, webm: pictures for slides; "
            "perfetto: one trace for its viewer; trace.dat: one file per lane, for trace-cmd; "
            "csv: one file per table and per kind of event.",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    step: Annotated[
        str, typer.Option("--step", help="Picture: show this step of the lesson.")
    ] = "",
    at: Annotated[
        float | None, typer.Option("--at", help="Picture: show this moment, ms of guest time.")
    ] = None,
    from_ms: Annotated[
        float | None, typer.Option("--from", help="Film: first moment, ms of guest time.")
    ] = None,
    to_ms: Annotated[
        float | None, typer.Option("--to-ms", help="Film: last moment, ms of guest time.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.2, help="Film: its length; default: 5.")
    ] = None,
    arms: Annotated[
        str, typer.Option("--arms", help="Pictures: these lanes, separated by commas.")
    ] = "",
    size: Annotated[
        str, typer.Option("--size", help="Pictures: WIDTHxHEIGHT; default: 1280x720.")
    ] = "",
    theme: Annotated[str, typer.Option("--theme", help="Pictures: light or dark.")] = "",
    as_json: Json = False,
) -> int:
    """Export a recording as a web page, picture, film or trace."""
    from duet.bundle import open_bundle
    from duet.cli.output import split_names
    from duet.export import FORMATS as FILES
    from duet.export import export as write_files
    from duet.export import handout, pictures
    from duet.export.pictures import Shot
    from duet.export.scene import Target
    from duet.lessons import load as lessons

    shot = read_shot((step, at, from_ms, to_ms, seconds), split_names(arms), size, theme)
    formats = ("site", "pdf", *pictures.FORMATS, *FILES)
    if to not in formats:
        raise InputError(
            f"there is no export format '{to:.20}'.", remedy=f"Choose from: {', '.join(formats)}."
        )
    if shot != Shot() and to not in pictures.FORMATS:
        raise InputError(
            f"an export to {to} takes no step, moment, range, lanes, size or theme.",
            remedy=f"Leave these options out, or export to {', '.join(pictures.FORMATS)}.",
        )
    if to == "site":
        written = export_site(run, out)
    elif to == "pdf":
        target = Target(out, force=force)
        target.check_file()
        handout.write(target, *recordings_of(run))
        written = target.written
    elif to in pictures.FORMATS:
        path = find_recording(run)
        target = Target(out, force=force)
        target.check_file()
        folder = lessons.load(open_bundle(path).manifest.lesson)
        pictures.take_picture(target, to, folder, path, shot)
        written = target.written
    else:
        written = write_files(open_bundle(find_recording(run)), to, out, force=force)
    if as_json:
        files = [ExportedFile(name, count) for name, count in written.items()]
        emit(ExportResult(run, to, files))
        return 0
    for name, count in written.items():
        print(f"{name} ({count:,} bytes)")
    if to == "site":
        print(f"{sum(written.values()):,} bytes in all; open {out / 'index.html'} in a browser.")
    return 0


SIZE = re.compile(r"^(\d{3,4})x(\d{3,4})$")


def export_site(run: str, out: Path) -> dict[str, int]:
    """Write a site with one recording, or with all of a lesson's recordings."""
    from duet.export import pictures, site
    from duet.export.site import GRID_BYTES, SITE_BYTES

    folder, chosen = recordings_of(run)
    if folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no view yet, so there is nothing to play.",
            remedy="Choose a recording of another lesson.",
        )
    target = site.check_site(out)
    for language in site.write(target, folder, chosen):
        note(f"The texts in {language} are left out: they do not fit into {SITE_BYTES:,} bytes.")
    for name, path in chosen.items():
        for patch in other_patches(folder, path):
            note(
                f"{name}: {patch} has changed since the recording; the page shows the new version."
            )
    try:
        site.add_picture(target, folder, pictures.picture_of(out, folder))
    except InfraError as error:
        note(f"No still picture for browsers without JavaScript: {error.sentence} {error.remedy}")
    cells = set(folder.cells()).intersection(chosen.values())
    limit = SITE_BYTES + (GRID_BYTES if cells else 0)
    if sum(target.written.values()) > limit:
        note(f"This is more than {limit:,} bytes; fewer recordings make a smaller site.")
    return target.written


def recordings_of(run: str) -> tuple[LessonFolder, dict[str, Path]]:
    """Return the lesson, and its recordings by name.

    Raises:
        InputError: there is no such recording, or the lesson has no recordings.
    """
    from duet.bundle import open_bundle
    from duet.lessons import load as lessons
    from duet.lessons.load import SLUG

    if SLUG.match(run) and not Path(run).exists():
        folder = lessons.load(run)
        chosen = folder.bundles()
        if not chosen:
            raise InputError(
                f"lesson {run} has no recording.", remedy=f"Record one: ./duet record {run}."
            )
        return folder, chosen
    path = find_recording(run)
    folder = lessons.load(open_bundle(path).manifest.lesson)
    return folder, {plain_name(path.stem): path}


def plain_name(stem: str) -> str:
    """Return a file name's stem with only characters that are safe in URLs and script names."""
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:60] or "recording"


def other_patches(folder: LessonFolder, path: Path) -> list[str]:
    """Return a recording's patches that differ from this checkout's patches."""
    from duet.bundle import open_bundle

    bundle = open_bundle(path)
    arms = [arm for arm in bundle.manifest.arms if arm.name in {a.name for a in folder.lesson.arms}]
    here = {file.name: file for arm in arms for file in folder.patch_files(arm.name)}
    return [
        name
        for name in bundle.patches
        if name not in here or here[name].read_bytes() != bundle.patch(name)
    ]


def read_shot(
    given: tuple[str, float | None, float | None, float | None, float | None],
    arms: tuple[str, ...],
    size: str,
    theme: str,
) -> Shot:
    """Check the options for a picture.

    Args:
        given: values of the options --step, --at, --from, --to-ms and --seconds.

    Raises:
        InputError: the size is invalid, or there is no such theme.
    """
    from duet.export.browser import Screen
    from duet.export.pictures import Shot

    step, at_ms, from_ms, to_ms, seconds = given
    shot = Shot(step=step, at_ms=at_ms, from_ms=from_ms, to_ms=to_ms, arms=arms)
    if seconds is not None:
        shot = replace(shot, seconds=seconds)
    screen = Screen()
    if size:
        found = SIZE.match(size)
        sides = (int(found[1]), int(found[2])) if found else (0, 0)
        if not all(200 <= side <= 4000 for side in sides):
            raise InputError(
                f"--size needs WIDTHxHEIGHT, each from 200 to 4000, but got '{size:.20}'.",
                remedy="Write for example: --size 1600x900.",
            )
        screen = replace(screen, width=sides[0], height=sides[1])
    if theme not in ("", "light", "dark"):
        raise InputError(f"there is no theme '{theme:.20}'.", remedy="Choose light or dark.")
    return replace(shot, screen=replace(screen, dark=theme == "dark"))
