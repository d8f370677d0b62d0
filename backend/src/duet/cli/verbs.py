# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs and their options. Each body is elsewhere and is imported only when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Kernel Duet: two kernels, one workload, one screen.",
    epilog="Exit codes: 0 done, 1 unexpected, 2 input, 3 host, 4 guest kernel, 130 interrupted. "
    'With --json an error is {"error": {"code", "sentence", "remedy", "detail"}} on stdout.',
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Lesson = Annotated[str, typer.Argument(help="Slug, e.g. 02-grace-periods.")]
MaybeLesson = Annotated[str | None, typer.Argument(help="Slug; all lessons when left out.")]
Source = Annotated[Path | None, typer.Option("--source", help="A linux-*.tar.* to build from.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A knob, NAME=NUMBER; may be repeated.")
]
Arms = Annotated[str, typer.Option("--arms", help="Names with commas; default: all arms.")]
Workload = Annotated[str, typer.Option("--workload", help="Default: the lesson's first.")]
File = Annotated[
    str, typer.Argument(help="A .duet file, a run of ./duet runs, or LESSON/NAME of a recording.")
]
Clock = Annotated[str, typer.Option("--clock", help="wall or count; default: the lesson's.")]

DOCTOR_KEYS = (
    "JSON keys: ok (bool), checks: [{name, status: ok|warning|missing, found, needed_for, remedy}]."
)
BUILD_KEYS = (
    "JSON keys: built (int), seconds, kernels: [{lesson, arm, key, folder, kernel_version, built}]."
)
SERVE_KEYS = (
    "JSON keys (one line, once it listens): url, host, port, pid, tokens (bool: one is needed), "
    "links: {role: url} (those made now)."
)
TOKEN_KEYS = (
    "JSON keys: file, tokens: [{role, id, created}], links: {role: url} (those made now), revoked: "
    "[role]."
)
RUN_KEYS = (
    "JSON keys: lesson, clock, workload, params, at, verdict, unit, arms: [{arm, ops, ops_per_s, "
    "wait_ns: {p50, p95, max, n}, grace_periods, events_read, events_lost, n, ops_per_s_all, "
    "kernel, accel, refused, lines}]. ops and ops_per_s are medians of the untraced runs; "
    "wait_ns, grace_periods and events_* come from the traced run of the same arm and are null "
    "with --no-trace."
)
MEASURE_KEYS = (
    "JSON keys: lesson, clock, workload, params, at, command, host, arms, rows: [{arm, metric, "
    "unit, better, median, mean, ci, n, clock, shift, evidence, samples, perturbed, refused}], "
    "comparisons: [{metric, arm, to, ratio, ci, range, p, verdict, sentence}], ratio and verdict "
    "(of the first metric, last arm against first), partial (null, or why it is not whole). "
    "With --against-seeds: rows: [{lesson, claim, mail, mail_ratio, ratio, arm, to, metric, "
    "clock, shift, n, interval, verdict, because}], counts, rule, skipped, kernels, host, seconds, "
    "partial."
)
RECORD_KEYS = (
    "JSON keys: file (null with --only-measured), bytes, lesson, params, clock, arms: [{arm, "
    "phase, ops, events_read, events_lost}], measured (path or null)."
)
XRAY_KEYS = (
    "JSON keys: lesson, arm, workload, clock, params, probe, samples, torn, failed, dropped, route "
    "(memory, qmp, unknown), sample_ms (reads of the sample shown), sample_ms_p50, sample_ms_p95, "
    "chosen (which sample is shown), rows, t_ms, error_ms, time_by (host, guest), and the probe's "
    "own facts; of shrinker-maps: memcgs (without the root), shrinkers, bits_set, root_bits, "
    "nr_max, words, dying. Each file of backend/src/duet/lenses/probes documents its own."
)
MICROSCOPE_KEYS = (
    "JSON keys: lesson, arm, workload, clock, params, evidence (counted), functions, operation, "
    "object, ops, ops_begun, ops_broken, broken_by: {ops_slept, ops_left (by a jump to another "
    "function), ops_again (entered again)}, no_operation (why nothing is per operation, or null), "
    "accesses, untold, all_lines, stack_lines, stack_accesses, outside (accesses that no operation "
    "did, or null), lines: [{line (address), field (what is written most there), fields: {name: "
    "counts}, vcpus, shared (several vCPUs, and one writes), accesses, reads, writes, rmws, "
    "reads_per_op, writes_per_op, rmw_per_op, outside, by_function: {name: counts}}]; counts: "
    "reads to outside; an atomic is one rmw. Lines that are shared come first, by writes. Stacks "
    "are counted, not listed. --predict: lesson, evidence "
    "(modelled), curves: {arm: [{cpus, ops_per_s: {median, low, high}, transfers_per_op, "
    "upgrades_per_op, bus_events_per_op}]}, comparison: {before, after, cpus, ratio, sensitivity: "
    "[{what, halved, doubled}], owning}, mail, left_out. --native: lesson, evidence (measured), "
    "what, threads, cpus, cores, rounds, run_ms, arms: [{arm, bytes, offsets, alone_ns, per_s, "
    "retries_per_op, stuck_per_op, events_per_op, c2c}], ratio, remarks."
)
DRGN_KEYS = "JSON keys: lanes: [{lane, pid}], the running ones; no shell is opened."
INSPECT_KEYS = (
    "JSON keys: file, bytes, format, created, lesson, workload, params, clock, shift, seed, "
    "window_ms, left_out, host, versions, checksums (members whose SHA-256 was checked), events, "
    "bytes_per_event, patch_files, lanes: [{name, title, role, patches, kernel_version, "
    "config_sha256, stream_bytes, packed_bytes, records, cpus, pages, events, events_by_type, "
    "events_unknown, events_overwritten, loss, contention, samples, lines, status, guest_ms, "
    "truncated, figures}]."
)
REPLAY_KEYS = (
    "JSON keys: file, lesson, workload, clock, params, recorded_at, same (bool; null when the "
    "recording keeps no figures), lanes: [{arm, same, differences: [{figure, recorded, now}], "
    "figures}]. Exit code 1 when a figure differs from the recorded one."
)
RUNS_KEYS = (
    "JSON keys: folder, most, most_bytes, added (name or null), runs: [{name, lesson (null: it "
    "cannot be opened), arms, workload, params, clock, seconds, bytes, recorded_at}], the newest "
    "first."
)
COMPARE_KEYS = (
    "JSON keys: lesson, sides: [{created, clock, workload, params, arms, host}] (two), "
    "differences: [{of (run, kernel, config, patches, build, host, programs), what, arm, recorded "
    "(of the first), now (of the second)}], figures: [{arm, figure, recorded, now, ratio}] (of "
    "traced runs), only: {arm: first or second}, worth."
)
EXPORT_KEYS = "JSON keys: file, to, files: [{path, bytes}]."
REPRODUCE_KEYS = (
    "JSON keys: file, lesson, clock, recorded_at, differences: [{of (run, kernel, config, patches, "
    "build, host, programs), what, arm, recorded, now}], figures: [{arm, figure, recorded, now, "
    "ratio}] (of traced runs), claims: [{claim, source, own_knobs, holds, because}] (of untraced "
    "runs), holds (null when no claim is about the recording), verdict, recording. Exit code 1 "
    "when a claim does not hold."
)
LINT_KEYS = "JSON keys: ok (bool), lessons: [slug], problems: [{lesson, where, sentence, remedy}]."


@app.command(epilog=DOCTOR_KEYS)
def doctor(json: Json = False) -> int:
    """Check what this machine has and lacks, with a remedy for each."""
    from duet.cli.doctor import doctor as body

    return body(json)


@app.command(epilog=BUILD_KEYS)
def build(
    lesson: MaybeLesson = None,
    source: Source = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="Only this arm; may be repeated.")
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="With debug.config: KASAN, lockdep. For stress only.")
    ] = False,
    json: Json = False,
) -> int:
    """Build the kernels that are not there yet."""
    from duet.cli.build import build as body

    return body(lesson, source, arm or [], json, debug=debug)


@app.command(epilog=SERVE_KEYS)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8642,
    no_build: Annotated[bool, typer.Option("--no-build", help="Build no kernels.")] = False,
    no_guests: Annotated[
        bool, typer.Option("--no-guests", help="Show recordings only; boot and build nothing.")
    ] = False,
    open: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A host name to answer to; repeatable."),
    ] = None,
    token_required: Annotated[
        bool,
        typer.Option("--token-required", help="Let in by links only; made where there are none."),
    ] = False,
    new_tokens: Annotated[
        bool, typer.Option("--new-tokens", help="The same, with new links; the old ones end.")
    ] = False,
    source: Source = None,
    json: Json = False,
) -> int:
    """Serve the page; missing kernels are built in the background.

    On this machine alone everybody may do everything. Beyond it (--host) a link with a token is
    needed: one each for operator, instructors, students and viewers; see ./duet token.
    """
    from duet.cli.serve import serve as body
    from duet.cli.serve_access import Ask

    names = tuple(allow_host or [])
    ask = Ask(token_required, new_tokens)
    return body(host, port, not no_build, not no_guests, open, names, source, json, ask)


@app.command(epilog=TOKEN_KEYS)
def token(
    action: Annotated[
        str, typer.Argument(help="show, create (where none is), rotate (new ones), or revoke.")
    ] = "show",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="viewer, student, instructor or operator; default: all."),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", help="Address of the server, for the links.")
    ] = "http://localhost:8642/",
    json: Json = False,
) -> int:
    """Show, make, replace or take away the links that let people in.

    Tokens are stored as hashes, so a link is printed once. A running server follows at once;
    sessions of a token that is rotated or revoked end within a second.
    """
    from duet.cli.token import token as body

    return body(action, role or [], url, json)


@app.command(epilog=RUN_KEYS)
def run(
    lesson: Lesson,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Untraced runs per arm.")] = 3,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="No traced run.")] = False,
    json: Json = False,
) -> int:
    """Measure the arms of a lesson, one guest after another."""
    from duet.cli.run import run as body

    return body(lesson, arms, workload, clock, set or [], repeats, not no_trace, json)


@app.command(epilog=MEASURE_KEYS)
def measure(
    lesson: MaybeLesson = None,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="NAME=VALUE,VALUE: a table per value of a knob.")
    ] = None,
    repeats: Annotated[
        str | None,
        typer.Option(
            "--repeats",
            metavar="NUMBER",
            help="Runs per arm: untraced ones on the wall clock (5), equal ones on the count "
            "clock (2).",
        ),
    ] = None,
    shift: Annotated[
        str,
        typer.Option(
            "--shift",
            help="Count clock: 2^shift ns an instruction, with commas; default 0, and 0,3 for "
            "lessons about waiting.",
        ),
    ] = "",
    format: Annotated[
        str,
        typer.Option("--format", help="mail, ministat, lkp, will-it-scale, sweep, json or csv."),
    ] = "mail",
    output: Annotated[Path | None, typer.Option("--output", help="File; default: stdout.")] = None,
    all: Annotated[bool, typer.Option("--all", help="With --against-seeds: all lessons.")] = False,
    against_seeds: Annotated[
        bool,
        typer.Option("--against-seeds", help="Look for the figures of the mails; one table."),
    ] = False,
    json: Json = False,
) -> int:
    """Measure arms against each other, untraced, and say what that proves."""
    from duet.cli.measure_args import Given

    if json:
        format = "json"
    if against_seeds or all:
        from duet.cli.against import against

        others = (arms, workload, clock, set, sweep, repeats, shift)
        more = any(other not in (None, "", []) for other in others)
        return against(lesson, all, against_seeds, more, format, output)
    from duet.cli.measure import measure as body

    given = Given(lesson or "", arms, workload, clock, tuple(set or ()), sweep, repeats, shift)
    return body(given, format, output)


@app.command(epilog=RECORD_KEYS)
def record(
    lesson: Lesson,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    name: Annotated[str, typer.Option(help="Name of the recording.")] = "storm",
    out: Annotated[Path | None, typer.Option(help="File; default: recorded/NAME.duet.")] = None,
    window_ms: Annotated[int, typer.Option(min=1, help="Kept of each lane from its start.")] = 400,
    whole: Annotated[bool, typer.Option("--whole", help="Keep all, whatever --window-ms.")] = False,
    measured: Annotated[
        bool, typer.Option("--measured", help="Also record the measured table (n = 5).")
    ] = False,
    only_measured: Annotated[
        bool, typer.Option("--only-measured", help="Record the measured table alone.")
    ] = False,
    json: Json = False,
) -> int:
    """Record a run of real kernels, one lane after another, as a bundle that plays anywhere."""
    from duet.cli.record import record as body

    request = (lesson, arms, workload, clock, set or [])
    window = None if whole else window_ms
    return body(request, name, out, window, measured, only_measured, json)


@app.command(epilog=RUNS_KEYS)
def runs(
    add: Annotated[
        Path | None, typer.Option("--add", help="Keep this recording, to play it on the page.")
    ] = None,
    delete: Annotated[str, typer.Option("--delete", help="Take the run of this name away.")] = "",
    json: Json = False,
) -> int:
    """List the live runs that are kept; the page plays them, and other verbs take their names."""
    from duet.cli.runs import runs as body

    return body(add, delete, json)


@app.command(epilog=INSPECT_KEYS)
def inspect(file: File, json: Json = False) -> int:
    """Say what a recording holds: manifest, lanes, events, samples, losses, bytes an event."""
    from duet.cli.inspect import inspect as body
    from duet.cli.which import which

    return body(which(file), json)


@app.command(epilog=REPLAY_KEYS)
def replay(file: File, json: Json = False) -> int:
    """Play a recording through the path of a live run, and print the metrics that it gives."""
    from duet.cli.replay import replay as body
    from duet.cli.which import which

    return body(which(file), json)


@app.command(epilog=MICROSCOPE_KEYS)
def microscope(
    lesson: Lesson,
    functions: Annotated[
        str, typer.Option("--functions", help="With commas; default: the lesson's.")
    ] = "",
    operation: Annotated[
        str, typer.Option("--operation", help="The function whose calls are operations.")
    ] = "",
    arm: Annotated[
        str, typer.Option("--arm", help="The arm whose kernel runs; default: stock, or the first.")
    ] = "",
    workload: Workload = "",
    set: Set = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Lines to tell of.")] = 20,
    predict: Annotated[
        bool, typer.Option("--predict", help="What the first and last arm do on 1 to 64 CPUs.")
    ] = False,
    native: Annotated[
        bool, typer.Option("--native", help="The arms' layouts on this host's CPUs; no guest.")
    ] = False,
    threads: Annotated[
        int, typer.Option(min=0, max=64, help="With --native: so many, on however few cores.")
    ] = 0,
    json: Json = False,
) -> int:
    """Count every load and store that kernel functions make, by cache line, field and function.

    The guest runs under a QEMU plugin that sees each access; nothing is sampled. --predict merges
    the counted accesses under a model of caches; --native measures a replica of them.
    """
    if native:
        from duet.cli.microscope_native import microscope_native

        return microscope_native(lesson, threads, json)
    if predict:
        from duet.cli.microscope_predict import microscope_predict

        return microscope_predict(lesson, workload, set or [], json)
    from duet.cli.microscope import microscope as body

    return body((lesson, arm, workload, set or []), functions, operation, top, json)


@app.command(epilog=EXPORT_KEYS)
def export(
    run: Annotated[
        str,
        typer.Argument(
            help="A .duet file, a run of ./duet runs, or LESSON/NAME; for a site also LESSON, "
            "with all of its recordings."
        ),
    ],
    out: Annotated[
        Path, typer.Argument(help="A file (pictures, perfetto) or a folder (site, trace.dat, csv).")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="site: a folder that plays in any browser without a server; png, svg, gif, "
            "webm: pictures for slides; perfetto: one trace for its viewer; trace.dat: one file "
            "per lane, for trace-cmd; csv: one file per table and per kind of event.",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    step: Annotated[str, typer.Option("--step", help="Picture: a step of the lesson.")] = "",
    at: Annotated[float | None, typer.Option("--at", help="Picture: its moment, ms.")] = None,
    from_ms: Annotated[
        float | None, typer.Option("--from", help="Film: begins here, ms of guest time.")
    ] = None,
    to_ms: Annotated[float | None, typer.Option("--to-ms", help="Film: ends here.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.2, help="Film: takes so long; default: 5.")
    ] = None,
    arms: Annotated[str, typer.Option("--arms", help="Pictures: lanes, with commas.")] = "",
    size: Annotated[str, typer.Option("--size", help="Pictures: default 1280x720.")] = "",
    theme: Annotated[str, typer.Option("--theme", help="Pictures: light or dark.")] = "",
    json: Json = False,
) -> int:
    """Write a recording as a page of its own, as pictures, or for other programs."""
    from duet.cli.export import export as body
    from duet.cli.export import read_shot
    from duet.cli.output import split_names

    shot = read_shot((step, at, from_ms, to_ms, seconds), split_names(arms), size, theme)
    return body(run, to, out, force, shot, json)


@app.command(epilog=COMPARE_KEYS)
def compare(
    first: File,
    second: File,
    json: Json = False,
) -> int:
    """Compare two recordings of a lesson: what they differ in, then their figures by arm."""
    from duet.cli.compare import compare as body
    from duet.cli.which import which

    return body(which(first), which(second), json)


@app.command(epilog=REPRODUCE_KEYS)
def reproduce(
    file: File,
    out: Annotated[Path | None, typer.Option("--out", help="Keep the new recording here.")] = None,
    no_claims: Annotated[
        bool, typer.Option("--no-claims", help="Only run it again; measure no claims.")
    ] = False,
    json: Json = False,
) -> int:
    """Run a recording's arms again, say what differs, and whether the lesson's claims hold."""
    from duet.cli.reproduce import reproduce as body
    from duet.cli.which import which

    return body(which(file), out, not no_claims, json)


@app.command(epilog=XRAY_KEYS)
def xray(
    lesson: Lesson,
    probe: Annotated[str, typer.Argument(help="What to read, e.g. shrinker-maps.")],
    arm: Annotated[str, typer.Option("--arm", help="The arm whose kernel is read.")],
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    hz: Annotated[float, typer.Option(min=0.1, max=30, help="Samples a second.")] = 30,
    of: Annotated[
        str, typer.Option("--of", help="Which of several: see the probe's own file.")
    ] = "",
    json: Json = False,
) -> int:
    """Boot an arm, run the workload, and read a structure of its kernel with drgn meanwhile.

    The guest is not stopped. Shown is one sample: the last of the largest (most memcgs and
    shrinkers, inodes, extents), since a workload takes down at its end what it made.
    """
    from duet.cli.xray import xray as body

    return body((lesson, arm, workload, clock, set or []), probe, hz, of, json)


@app.command(epilog=DRGN_KEYS)
def drgn(
    lane: Annotated[
        str | None,
        typer.Argument(help="ARM, LESSON/ARM or a pid; may be left out when one lane runs."),
    ] = None,
    script: Annotated[
        Path | None, typer.Option("--script", exists=True, help="Run it instead of a shell.")
    ] = None,
    json: Json = False,
) -> int:
    """Open drgn's own shell on a lane that runs (of `duet serve`, `run`, `xray`)."""
    from duet.cli.shell import shell as body

    return body(lane, script, json)


@app.command(epilog=LINT_KEYS)
def lint(lesson: MaybeLesson = None, json: Json = False) -> int:
    """Check lessons: schema, patches, fair arms, prose, recordings and claims."""
    from duet.cli.lint import lint as body

    return body(lesson, json)
