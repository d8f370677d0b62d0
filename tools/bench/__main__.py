# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks and their options. Each benchmark is imported when it is called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from duet.cli.entry import main
from duet.cli.keys import keys_text
from duet.cli.options import FirstLesson, Json, Slug
from tools.bench.results import (
    ClassResult,
    FollowersResult,
    LanesResult,
    LinkResult,
    PoolStartsResult,
    ReadersResult,
    SegmentsResult,
    SwitchResult,
    ViewersResult,
)
from tools.bench.speed.results import SpeedResult

SPEED_KEYS = keys_text(SpeedResult, "Times in s; a ratio is the peer's time by ours.")
LANES_KEYS = keys_text(LanesResult, "Times go from the request to a lane's first decoded event.")
VIEWERS_KEYS = keys_text(ViewersResult)
SEGMENTS_KEYS = keys_text(SegmentsResult)
CLASS_KEYS = keys_text(ClassResult)
FOLLOWERS_KEYS = keys_text(FollowersResult)
SWITCH_KEYS = keys_text(SwitchResult, "Times go from the click to a batch of every lane.")

POOL_KEYS = keys_text(
    PoolStartsResult, "Times go from the click to a batch of every lane; no guest is parked."
)
LINK_KEYS = keys_text(LinkResult, "Delays in s, from a viewer's first request.")
READERS_KEYS = keys_text(ReadersResult)

UNCUT = 1000
"""Maximum length of a command's first sentence. It is high enough that click shows the whole
sentence.
"""


class Measurements(TyperGroup):
    """Command group whose help shows the first sentence about each benchmark without cutting it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(UNCUT)) for name, one in found if one]
            )


bench = typer.Typer(
    cls=Measurements,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Benchmarks: how fast each stage is, how soon lanes move, what viewers cost.",
)


@bench.command("speed", epilog=SPEED_KEYS)
def speed(
    stages: Annotated[list[str] | None, typer.Argument(help="Stages; default: all.")] = None,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Small sizes and few pairs: at most 20 s a stage.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="With --smoke: fail if a ratio fell below 3/4 of the stored."),
    ] = False,
    store: Annotated[
        bool,
        typer.Option("--store", help="With --smoke: run three times, store the lowest ratios."),
    ] = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write this page, such as docs/SPEED.md.")
    ] = None,
    json: Json = False,
) -> int:
    """Compare each stage with the best program that does the same work, in turns on one machine."""
    from tools.bench.speed.report import speed as body

    return body(stages or [], smoke=smoke, check=check, store=store, write=write, js=json)


@bench.command("lanes", epilog=LANES_KEYS)
def lanes(
    lesson: FirstLesson,
    arm: Annotated[str, typer.Option("--arm", help="Default: the lesson's first.")] = "",
    repeats: Annotated[
        int, typer.Option(min=1, max=500, help="Rounds of one boot and one copy.")
    ] = 7,
    vng: Annotated[
        bool, typer.Option("--vng", help="Add three boots by virtme-ng, some 20 s each.")
    ] = False,
    json: Json = False,
) -> int:
    """Compare copied guests and booted guests by the time until a lane moves."""
    from tools.bench.lanes import bench as body

    return body(lesson, arm, repeats, vng, json)


@bench.command("viewers", epilog=VIEWERS_KEYS)
def viewers(
    lesson: FirstLesson,
    count: Annotated[int, typer.Option("--viewers", min=2, max=400)] = 300,
    fps: Annotated[float, typer.Option(min=1, max=60, help="Frames a second.")] = 20,
    seconds: Annotated[float, typer.Option(min=1, max=600)] = 20,
    stalled: Annotated[
        int, typer.Option(min=0, max=100, help="So many read nothing in the second half.")
    ] = 1,
    json: Json = False,
) -> int:
    """Measure what viewers of one live run cost the server, and how late the run's rows arrive.

    No guest runs. The rows come from the lesson's first recording, and are sent as in a live run.
    """
    from tools.bench.viewers import viewers as body

    return body(lesson, count, fps, seconds, stalled, json)


@bench.command("segments", epilog=SEGMENTS_KEYS)
def segments(
    lesson: FirstLesson,
    recorded: Annotated[
        int, typer.Option(min=2, max=20_000, help="Viewers of a recording, by segments.")
    ] = 3000,
    messages: Annotated[
        int, typer.Option(min=4, max=5000, help="Viewers of it by messages.")
    ] = 1000,
    live: Annotated[int, typer.Option(min=2, max=1100, help="Viewers of a live run.")] = 1000,
    fps: Annotated[
        float, typer.Option(min=1, max=60, help="Frames a second; 7: as much as three busy lanes.")
    ] = 7,
    seconds: Annotated[float, typer.Option(min=2, max=600)] = 20,
    json: Json = False,
) -> int:
    """Measure what viewers cost when a real nginx caches segments (docs/SEGMENTS.md).

    No guest runs. The live run's rows come from the lesson's first recording.
    """
    from tools.bench.segments import segments as body

    return body(lesson, recorded, messages, live, fps, seconds, json)


@bench.command("class", epilog=CLASS_KEYS)
def classroom(
    lesson: FirstLesson,
    students: Annotated[int, typer.Option(min=1, max=300)] = 40,
    different: Annotated[
        int, typer.Option(min=1, max=50, help="Settings of the knob; equal requests share a run.")
    ] = 4,
    json: Json = False,
) -> int:
    """Let all students of a class press "run live", and measure how the server serves them."""
    from tools.bench.classroom import classroom as body

    return body(lesson, students, different, json)


@bench.command("followers", epilog=FOLLOWERS_KEYS)
def followers(
    count: Annotated[int, typer.Option("--followers", min=2, max=340)] = 300,
    rate: Annotated[float, typer.Option("--rate", min=1, max=30, help="Places a second.")] = 10,
    seconds: Annotated[float, typer.Option(min=1, max=600)] = 20,
    stalled: Annotated[
        int, typer.Option(min=0, max=100, help="So many read nothing in the second half.")
    ] = 1,
    json: Json = False,
) -> int:
    """Measure how late a class receives its driver's position, and what this costs the server.

    The benchmark uses a real server, which stores its classes in a separate folder. No guest runs.
    """
    from tools.bench.followers import followers as body

    return body(count, rate, seconds, stalled, json)


@bench.command("switch", epilog=SWITCH_KEYS)
def switch(
    lesson: Slug,
    other: Annotated[str, typer.Argument(help="The lesson to click on.")],
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="Clicks of each kind; boots: 3 at most.")
    ] = 5,
    clock: Annotated[
        str, typer.Option("--clock", help="wall or count; default: the lesson's, as on the page.")
    ] = "",
    json: Json = False,
) -> int:
    """Measure the time from a click on another lesson until its recording or live lanes move.

    The benchmark uses real servers with real guests, first with parked guests and then without.
    """
    from tools.bench.switch import switch as body

    return body(lesson, other, repeats, clock, json)


@bench.command("pool", epilog=POOL_KEYS)
def pool(
    lesson: FirstLesson,
    which: Annotated[
        str, typer.Option("--pool", help="slurm or kubernetes; default: $DUET_POOL.")
    ] = "",
    rounds: Annotated[
        int, typer.Option(min=1, max=100, help="Rounds of one local server and one with the pool.")
    ] = 5,
    again: Annotated[
        int, typer.Option(min=1, max=100, help="Further clicks on each, with the existing lease.")
    ] = 4,
    json: Json = False,
) -> int:
    """Compare the time from a click on "run live" to events, locally and through a pool.

    The benchmark uses real servers with real guests. With the pool, the first click needs a new
    lease, and later clicks use this lease again.
    """
    from tools.bench.pool import bench as body

    return body(lesson, which, rounds, again, json)


@bench.command("link", epilog=LINK_KEYS)
def link(
    lesson: FirstLesson,
    viewers: Annotated[
        str, typer.Option("--viewers", help="Numbers with commas, one measurement each.")
    ] = "30,120",
    mbit: Annotated[
        float, typer.Option("--mbit", min=1, max=10_000, help="Mbit/s of the link that all share.")
    ] = 50,
    json: Json = False,
) -> int:
    """Compare the simulation of duet plan with real viewers of a recording who share a link.

    The benchmark uses a real nginx with the shipped configuration, and a link with limited
    bandwidth in a network namespace (tc). The viewers fetch real segments, four at a time, as the
    page does.
    """
    from tools.bench.link import bench as body

    return body(lesson, viewers, mbit, json)


@bench.command("readers", epilog=READERS_KEYS)
def readers(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Written by ./duet export LESSON --to site DIR.")
    ],
    count: Annotated[int, typer.Option("--readers", min=1, max=1300)] = 1000,
    turns: Annotated[
        int, typer.Option(min=0, max=100, help="So often each reader turns a knob.")
    ] = 5,
    seconds: Annotated[
        float, typer.Option(min=0, max=3600, help="All readers arrive within this time.")
    ] = 60,
    gzip_static: Annotated[
        bool,
        typer.Option(
            "--gzip-static/--gzip", help="Compress files before nginx starts, or for each request."
        ),
    ] = True,
    workers: Annotated[
        bool, typer.Option("--workers/--no-workers", help="Service workers of the readers.")
    ] = True,
    json: Json = False,
) -> int:
    """Measure what the readers of an exported site cost a real nginx, and how soon they see lanes.

    Chromium opens the site first, also through slow networks, again from its cache, and offline.
    The simulated readers request the files that Chromium requested.
    """
    from tools.bench.readers import bench as body

    return body(folder, count, turns, seconds, gzip_static, workers, json)


if __name__ == "__main__":
    sys.exit(main(None, typer.main.get_group(bench), "python -m tools.bench"))
