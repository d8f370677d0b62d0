# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of all text formats: ASCII, wrapping, columns, numbers, names. Pure."""

from __future__ import annotations

import re
import shlex
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from duet.guests.qemu import sharing_words
from duet.measure.compare import (
    base_words,
    format_value,
    other_bases,
    other_compilers,
    rounded,
    shift_words,
    step_of,
    summary,
    why_refused,
)
from duet.measure.model import (
    ArmFacts,
    Comparison,
    Report,
    Series,
    SourceFacts,
    Summary,
    Table,
    host_words,
)
from duet.measure.plan import default_repeats
from duet.measure.spread import ratio_words, spread_words
from duet.measure.verdicts import of_the_clock

WIDTH = 75
SIGNS = str.maketrans(
    {
        "\u00b5": "u",
        "\u03bc": "u",
        "\u00d7": "x",
        "\u00b1": "+-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2026": "...",
        "\u2192": "->",
        "\u00ae": "(R)",
        "\u2122": "(TM)",
    }
)
DIRECTION = {
    "higher": "HIGHER is better",
    "lower": "LOWER is better",
    "neither": "neither is better",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One metric of a table, with a series per arm. The first arm is the reference."""

    table: Table
    series: tuple[Series, ...]

    @property
    def first(self) -> Series:
        return self.series[0]

    def summary(self, one: Series) -> Summary | None:
        return summary(one.starts, self.table.condition.clock)

    def step(self, one: Series) -> float | None:
        """Return the step to which the figures of a series are rounded; see step_of()."""
        return step_of(self.span(one))

    def span(self, one: Series) -> tuple[float, float] | None:
        """Return the interval of the mean (wall clock), or the range over starts (count clock)."""
        if self.table.condition.clock == "wall":
            found = self.summary(one)
            return found.ci if found else None
        return (min(one.starts), max(one.starts)) if one.perturbed else None

    def comparison(self, arm: str) -> Comparison | None:
        named = (c for c in self.table.comparisons if c.metric == self.first.metric)
        return next((c for c in named if c.arm == arm), None)


def blocks(report: Report, table: Table) -> list[Block]:
    """Return a table's metrics, the headline first. Only the first table has static metrics."""
    again = report.tables[:1] != [table]
    order = {arm.name: number for number, arm in enumerate(report.arms)}
    metrics: dict[str, list[Series]] = {}
    for one in table.series:
        if one.evidence == "static" and again:
            continue
        metrics.setdefault(one.metric, []).append(one)
    return [
        Block(table, tuple(sorted(held, key=lambda s: order.get(s.arm, len(order)))))
        for held in metrics.values()
    ]


def plain(text: str) -> str:
    """Convert a text to one line of ASCII. Characters without an equivalent become '?'."""
    near = unicodedata.normalize("NFKD", text.translate(SIGNS).expandtabs())
    ascii_only = "".join(c for c in near if not unicodedata.combining(c))
    ascii_text = ascii_only.encode("ascii", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in ascii_text).rstrip()


def wrap(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Wrap a text into lines of at most WIDTH columns.

    Args:
        first: indent of the first line; None means `indent`.
    """
    return textwrap.wrap(
        plain(text),
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def labelled(label: str, text: str, width: int = 11) -> list[str]:
    """Return 'Workload:  ...' with continuation lines aligned under the text."""
    return wrap(text, " " * width, f"{label}:".ljust(width)) if text else []


def command(text: str) -> list[str]:
    """Wrap a command line with backslashes. Keep words whole, and options with their values."""
    try:
        words = [_shell_word(word) for word in shlex.split(text)]
    except ValueError:  # a quote is not closed, so this is not a command line
        words = plain(text).split()
    parts: list[str] = []
    for word in words:
        if parts and re.fullmatch(r"--[\w-]+", parts[-1]) and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + 1 + len(part) > WIDTH - 6:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
    ends = [" \\"] * (len(lines) - 1) + [""]
    starts = ["  ", *["    "] * len(lines)]
    return [start + line + end for start, line, end in zip(starts, lines, ends, strict=False)]


def _shell_word(word: str) -> str:
    """Quote a word for a shell, in one line of ASCII. $'...' needs bash or POSIX.1-2024."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in word.replace("\n", "\0").encode(errors="surrogateescape")
    )
    return f"$'{safe}'".replace("\\x00", "\\n")


def number(value: float) -> str:
    """Format a number in at most ten characters if possible."""
    ascii_text = format_value(value)
    return ascii_text if len(ascii_text) <= 10 else f"{value:.4g}"


def percent(value: float) -> str:
    """Format a percentage: '-78.2 %', '+1,234.5 %'."""
    return f"{value:+,.1f} %" if abs(value) < 1e6 else f"{value:+.3g} %"


def columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ", gap: str = "  "
) -> list[str]:
    """Format rows with the first column left-aligned and the others right-aligned.

    If a row is too wide, its first column goes on a separate line above the others.
    """
    cells = [[plain(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    one_line = len(indent) + sum(widths) + len(gap) * (len(widths) - 1) <= WIDTH
    lines = []
    for row in cells:
        rest = gap.join(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))
        if one_line:
            lines.append(f"{indent}{row[0].ljust(widths[0])}{gap}{rest}".rstrip())
        else:
            lines += [*wrap(row[0], indent), f"{indent}{gap}{rest}".rstrip()]
    return lines


def metric_title(one: Series) -> str:
    """Return a title such as 'umounts (ops_per_s), umounts/s; HIGHER is better; measured'."""
    extra = "; shown, not judged" if one.extra else ""
    return f"{one.title} ({one.metric}), {one.unit}; {DIRECTION[one.better]}; {one.evidence}{extra}"


def params_words(table: Table, sweep: tuple[str, tuple[int, ...]] | None = None) -> str:
    """Return a table's knobs, such as 'name=9 other=10'. List all values of a swept knob."""
    params: dict[str, object] = dict(table.condition.params)
    if sweep is not None:
        params[sweep[0]] = ",".join(str(value) for value in sweep[1])
    return " ".join(f"{name}={value}" for name, value in params.items())


def clock_words(table: Table) -> str:
    """Describe the clock and what its numbers mean."""
    if table.condition.clock == "wall":
        return "wall; untraced runs, arms interleaved A B B A"
    return f"count; {instruction_words(table)}; times are counted instructions, not seconds"


def instruction_words(table: Table) -> str:
    """Describe the count clock's setting: 'one vCPU, 8 ns per instruction (shift 3)'."""
    shift = table.condition.shift or 0
    sharing = sharing_words(table.condition.sharing)
    return f"{sharing}, {shift_words(shift)} (shift {shift})"


def pairs(report: Report) -> list[tuple[str, str]]:
    """Return (arm, reference) for every arm except the first, which is the reference."""
    names = [arm.name for arm in report.arms]
    return [(name, names[0]) for name in names[1:]]


# Sections that every text report has: warnings at the top, provenance at the end. Pure.

SHORT = 12
"""Number of hash digits that are shown."""
MAX_REASONS = 8


def alarms(report: Report) -> list[str]:
    """Return the warnings above the numbers, for example about failed or refused results."""
    said: dict[str, None] = {}
    if report.partial:
        said[f"PARTIAL: {report.partial}."] = None
    if not report.tables:
        said["EMPTY: nothing was measured."] = None
    for warning in other_bases(report.arms):
        said[f"BASES: {warning}."] = None
    for warning in other_compilers(report.arms):
        said[f"COMPILERS: {warning}."] = None
    for warning in of_the_clock(report):
        said[f"CLOCK: {warning}."] = None
    label = "HOSTS" if report.hosts else "NOTE"
    for remark in report.remarks:
        said[f"{label}: {remark}"] = None
    for table in report.tables:
        for arm, error in table.errors.items():
            said[f"FAILED: {arm}: {error.sentence} {error.remedy}"] = None
        for refusal in table.refusals:
            said[f"REFUSED: {refusal.rstrip('.')}."] = None
    refused = list(dict.fromkeys(s for table in report.tables for s in _refused(table)))
    for sentence in refused[:MAX_REASONS]:
        said[f"REFUSED: {sentence}"] = None
    if len(refused) > MAX_REASONS:
        said[f"REFUSED: and {len(refused) - MAX_REASONS} more, listed below."] = None
    lost = [
        f"{arm} lost {lost:,} of {read + lost:,}"
        for table in report.tables
        for arm, (read, lost) in table.counted.items()
        if lost
    ]
    if lost:
        said[f"LOST: events of counted runs: {'; '.join(dict.fromkeys(lost))}."] = None
    lines = [line for text in said for line in wrap(text, "!!   ", "!! ")]
    return [*lines, ""] if lines else []


def _refused(table: Table) -> list[str]:
    """Return the sentences of refused comparisons.

    Comparisons that are refused for the whole table are left out. So are comparisons of figures
    that one traced run on the wall clock counted, because nobody expects a verdict on these
    figures.
    """
    reasons = {refusal.rstrip(".") for refusal in table.refusals}
    wall = table.condition.clock == "wall"
    shown = {one.metric for one in table.series if wall and one.evidence == "counted"}
    return [
        c.sentence
        for c in table.comparisons
        if c.metric not in shown
        and (why := why_refused(c)) is not None
        and why.rstrip(".") not in reasons
    ]


def head(report: Report) -> list[str]:
    return [*wrap(f"{report.title} ({report.lesson})"), *wrap(report.question), ""]


def setting(report: Report, table: Table, *, swept: bool = False) -> list[str]:
    """Return lines about a table's workload and clock. The first table also names the machine.

    Args:
        swept: whether the table stands for all values of the swept knob.
    """
    knobs = params_words(table, report.sweep if swept else None)
    lines = labelled("Workload", f"{table.condition.workload}  {knobs}".strip())
    lines += labelled("Clock", clock_words(table))
    return [*lines, *(labelled("Machine", machine(report)) if table is report.tables[0] else [])]


def machine(report: Report) -> str:
    """Describe guests and host: 'QEMU 7.2.22 (tcg) guests, ...; host: <cpu>, 2 CPUs, ...'."""
    host = report.host
    guest = f"QEMU {host.get('qemu', '')} ({host.get('accel', '?')})".replace("  ", " ")
    parts = [
        host.get("cpu", ""),
        f"{host['cpus']} CPUs" if host.get("cpus") else "",
        f"{host['memory_mib']} MiB" if host.get("memory_mib") else "",
        host.get("os", ""),
        f"Linux {host['kernel']}" if host.get("kernel") else "",
        host.get("hardware", ""),
        f"CPUs reserved for the guest: {host['own_cpus']}" if host.get("own_cpus") else "",
    ]
    words = ", ".join(part for part in parts if part)
    how = {"tcg": ", emulated by software", "kvm": ", under KVM"}.get(host.get("accel", ""), "")
    return f"{guest} guests{how}; host: {words}" if words else "unknown"


def hosts(report: Report) -> list[str]:
    """List the pool's hosts and their comparisons. Return [] for a measurement on this machine."""
    if not report.hosts:
        return []
    said = [line for one in report.hosts for line in wrap(host_words(one), "    ", "  ")]
    return ["Hosts:", *said, ""]


def provenance(report: Report) -> list[str]:
    """Return lines about kernels, patches, the command to repeat the measurement, and the date."""
    lines = hosts(report)
    lines += ["Kernels (sha256, shortened; a patch counts by its diff):"]
    first = report.arms[0] if report.arms else None
    shared = first.both if first else ()
    for arm in report.arms:
        another = first is not None and arm.base != first.base
        lines += _kernel(arm, shared, another=another, tried=bool(report.made_by))
    if shared:
        words = ", ".join(f"{name} {sha[:SHORT]}" for name, sha in shared)
        lines += wrap(f"all arms: {words}", "    ", "  ")
    for what, values in _making(report):
        lines += _alike(what, values)
    if report.programs:
        words = ", ".join(f"{name} {version}" for name, version in report.programs.items())
        lines += wrap(f"programs in the guests: {words}", "    ", "  ")
    first_of_all = report.made_by if report.made_by != report.command else ""
    made_by = command(first_of_all) if first_of_all else []
    where = ", with the files that it names in the current folder" if report.made_by else ""
    lines += ["", f"Reproduce{where}:", *made_by, *command(report.command), ""]
    by = f"Kernel Duet {report.by}".strip()
    return [*lines, *wrap(f"Measured {report.at} by {by}.")]


def _making(report: Report) -> list[tuple[str, dict[str, str]]]:
    """Return more build inputs, each as (name, arm -> value). Leave out unknown values."""
    arms = report.arms
    known = [
        ("compiler", {arm.name: arm.compiler for arm in arms}),
        ("configuration", {arm.name: arm.settings for arm in arms}),
        ("source, sha256", {arm.name: arm.tarball_sha256[:SHORT] for arm in arms}),
    ]
    return [(what, {k: v for k, v in values.items() if v}) for what, values in known]


def _alike(what: str, values: dict[str, str]) -> list[str]:
    """Return one line if all arms have the same value, otherwise a line per value."""
    groups: dict[str, list[str]] = {}
    for arm, value in values.items():
        groups.setdefault(value, []).append(arm)
    if len(groups) == 1:
        return wrap(f"{what}: {next(iter(groups))}", "    ", "  ")
    return [
        line
        for value, arms in groups.items()
        for line in wrap(f"{what} of {', '.join(arms)}: {value}", "    ", "  ")
    ]


def _kernel(
    arm: ArmFacts, shared: tuple[tuple[str, str], ...], *, another: bool, tried: bool
) -> list[str]:
    """Describe one arm's kernel.

    Args:
        another: whether the arm's base is not the first arm's.
        tried: whether the patch files belong to a trial; readers do not have such files.
    """
    own = " + ".join(_patches(arm, files=not tried)) or "no patch of its own"
    facts = [
        f"Linux {arm.kernel}" if arm.kernel else "kernel that never booted",
        source_words(arm.source) if arm.source is not None else "",
        f"base {base_words(arm)}" if arm.base else "",
        f"config {arm.config_sha256[:SHORT]}" if arm.config_sha256 else "",
        f"build {arm.key[:SHORT]}" if arm.key else "",
        own,
        *(f"written in the guest: {line}" for line in arm.writes),
    ]
    lines = wrap(f"{arm.name} ({arm.role}): {', '.join(f for f in facts if f)}", "    ", "  ")
    if arm.both != shared:
        words = ", ".join(f"{name} {sha[:SHORT]}" for name, sha in arm.both) or "none"
        unfair = "UNFAIR: its shared patches differ from those of the first arm"
        why = "another base, with its own shared patches" if another else unfair
        lines += wrap(f"{why}: {words}", "    ", "    ")
    return lines


def _patches(arm: ArmFacts, *, files: bool) -> list[str]:
    """Describe each of the arm's own patches by file, diff hash and origin.

    Args:
        files: whether to name the patch's file. If false, a known subject replaces the name.
    """
    said = []
    for number, (name, sha) in enumerate(arm.patches):
        origin = arm.origins[number] if number < len(arm.origins) else None
        known = [f'"{origin.subject}"' if origin and origin.subject else ""]
        known += [f"commit {origin.commit[:SHORT]}" if origin and origin.commit else ""]
        words = ", ".join(part for part in known if part)
        where = name if files or not known[0] else "patch"
        said.append(f"{where} {sha[:SHORT]}" + (f" ({words})" if words else ""))
    return said


def source_words(source: SourceFacts) -> str:
    """Describe a source: 'source 6.6.7 at commit 0123456789ab (v6.6.7), dirty (diff 0a1b...)'."""
    if not source.commit:
        return f"source {source.version} without a commit, tree {source.tree[:SHORT]}"
    short = source.commit[:SHORT]
    name = f" ({source.describe})" if source.describe not in ("", short) else ""
    changes = f" (diff {source.changes[:SHORT]})" if source.changes else ""
    state = f"dirty{changes}" if source.dirty else "clean"
    return f"source {source.version} at commit {short}{name}, {state}"


def verdicts(block: Block) -> list[str]:
    """Return the sentence of every comparison, and the reasons for missing numbers."""
    lines = []
    for one in block.series:
        if one.refused:
            lines += wrap(f"{one.arm}: no number: {one.refused.rstrip('.')}.", "    ", "  ")
    for one in block.series[1:]:
        found = block.comparison(one.arm)
        if found is not None:
            said = "" if found.verdict == "refused" else "verdict: "
            lines += wrap(said + found.sentence, "    ", "  ")
    return [*lines, *layouts(block)]


def layouts(block: Block) -> list[str]:
    """Return sentences about relinked kernels, or [] if no relinked kernel ran."""
    said = [spread_words(one) for one in block.series]
    for one in block.series[1:]:
        found = block.comparison(one.arm)
        if found is not None and not block.first.extra:
            said.append(ratio_words(one, block.first, found.ratio))
    return [line for words in said if words for line in wrap(words, "    ", "  ")]


def whole(*parts: list[str]) -> str:
    return "\n".join(line.rstrip() for part in parts for line in part) + "\n"


# The format for pasting into a mail. Pure.


MAX_LINES = 60
"""Largest number of verbatim lines per arm."""


def render(report: Report) -> str:
    """Format the result, alarms, metrics by condition, provenance, and the workload's lines."""
    body: list[str] = []
    for count, table in enumerate(report.tables):
        if count:
            body += ["-" * 40, ""]
        body += [*setting(report, table), ""]
        for block in blocks(report, table):
            body += [*metric(block), ""]
        body += _events(table)
    lines = [line for table in report.tables for line in verbatim(report, table)]
    first = [opening(report), alarms(report)]
    if report.partial:  # first say what is missing, then give the figures
        first.reverse()
    return whole(*first, head(report), body, provenance(report), lines)


# The first sentences: what came out, how it was obtained, and on what.


def opening(report: Report) -> list[str]:
    """State the headline's figures and ratios; [] if there are none that may be compared."""
    said = [sentence for table in report.tables for sentence in _headline(report, table)]
    return [*(line for sentence in said for line in wrap(sentence)), *([""] if said else [])]


def _headline(report: Report, table: Table) -> list[str]:
    found = blocks(report, table)[:1]
    if not found or report.sweep is not None:  # a sweep has too many figures for the first lines
        return []
    (block,) = found
    parts = []
    for one in block.series[1:]:
        compared = block.comparison(one.arm)
        if compared is not None and compared.ratio is not None:
            parts.append(_result(block, one, compared))
    if not parts:
        return []
    return [f"{block.first.title}: {'; '.join(parts)}. {_how(report, table, block)}."]


def _result(block: Block, one: Series, compared: Comparison) -> str:
    """Describe one arm's figure beside the reference's."""
    figures = [f"{s.arm} {_figure(block, s)}" for s in (one, block.first)]
    if compared.verdict == "no difference proven":
        return f"{figures[0]} {one.unit} against {figures[1]}, no difference proven"
    ratio = rounded(compared.ratio or 0, step_of(compared.ci or compared.range))
    judged = "higher" if (compared.ratio or 0) > 1 else "lower"
    if one.better != "neither" and compared.ratio != 1:
        judged = "better" if judged == one.better else "worse"
    return f"{figures[0]} {one.unit} against {figures[1]}, {ratio} times, {judged}"


def _figure(block: Block, one: Series) -> str:
    return "-" if one.figure is None else rounded(one.figure, block.step(one))


def _how(report: Report, table: Table, block: Block) -> str:
    """Describe how the headline was obtained: 'Counted instructions under emulation, ...'."""
    accel = report.host.get("accel", "")
    on = {"tcg": " under emulation", "kvm": " under KVM"}.get(accel, "")
    if table.condition.clock == "count":
        what, more = "instructions", instruction_words(table)
    else:
        what, more = "times of untraced runs", f"n = {min(s.n for s in block.series)}"
    return f"{block.first.evidence.capitalize()} {what}{on}, {more}"


def render_verbatim(report: Report) -> str:
    """Format like render(), with all lines that the workload printed."""
    return render(replace(report, summary=()))


def metric(block: Block) -> list[str]:
    """Format one metric with its direction, a line per arm, and the verdicts."""
    if block.first.extra:
        return _aside(block)
    if (few := _too_few(block)) is not None:
        return wrap(few, "  ", "")
    wall = block.table.condition.clock == "wall"
    interval = "95 % CI of the mean" if wall else "lowest to highest"
    heading = ("arm", "n" if wall else "starts", "median", "mean", interval, "change")
    rows = [_row(block, one, wall=wall) for one in block.series]
    return [*wrap(metric_title(block.first)), *columns(heading, rows), *verdicts(block)]


def _aside(block: Block) -> list[str]:
    """Format an unjudged metric with one number for each arm: the median."""
    numbers = [f"{s.arm} {_figure(block, s)} (n {s.n})" for s in block.series if s.samples]
    missing: dict[str, list[str]] = {}
    for one in block.series:
        if not one.samples:
            why = (one.refused or "it was not measured").rstrip(".")
            missing.setdefault(why, []).append(one.arm)
    reasons = [f"{' and '.join(arms)} no number: {why}" for why, arms in missing.items()]
    said = wrap("; ".join([*numbers, *reasons]), "  ")
    return [*wrap(metric_title(block.first)), *said, *layouts(block)]


def _too_few(block: Block) -> str | None:
    """Return one sentence for a metric that has too few runs for a verdict, or None."""
    n = min(one.n for one in block.series)
    least = default_repeats(block.table.condition.clock)
    if block.first.evidence == "static" or block.first.extra or not 0 < n < least:
        return None
    first = block.first
    words = ", ".join(f"{one.arm} {_figure(block, one)}" for one in block.series)
    runs = f"{n} {'run gives' if n == 1 else 'runs give'} no verdict"
    return f"{first.title} ({first.metric}), {first.unit}; {first.evidence}: {words}; {runs}."


def _row(block: Block, one: Series, *, wall: bool) -> tuple[str, ...]:
    found = block.summary(one)
    if found is None:
        return one.arm, "0", "-", "-", "-", "-"
    values = (found.median, found.mean, *(block.span(one) or ()))
    cells = [_short(value, block.step(one)) for value in values]
    return (
        one.arm,
        str(found.n if wall else 1 + len(one.perturbed)),
        cells[0],
        cells[1],
        " to ".join(cells[2:]) or "-",
        change(block, one),
    )


def _short(value: float, step: float | None) -> str:
    """Format a number to its spread's step, in at most ten characters if possible."""
    words = rounded(value, step)
    return words if len(words) <= 10 else number(value)


def change(block: Block, one: Series) -> str:
    found = block.comparison(one.arm)
    if found is None or found.change_percent is None:
        return "" if one is block.first else "-"
    if found.verdict == "no difference proven":
        return "none proven"
    if found.ratio == 1:
        return "same"
    return percent(found.change_percent)


def verbatim(report: Report, table: Table) -> list[str]:
    """Return the workload's own output lines from the last run of each arm.

    If the report has patterns of summary lines, other lines are left out.
    """
    summary = [re.compile(pattern) for pattern in report.summary]
    lines: list[str] = []
    several = f", {params_words(table)}" if len(report.tables) > 1 else ""
    if table.condition.clock == "count":
        several += f", {shift_words(table.condition.shift)}"
    for arm, said in table.lines.items():
        runs = max(
            (s.n for s in table.series if s.arm == arm and s.evidence != "static"), default=1
        )
        each, rest = divmod(len(said), max(runs, 1))
        shown = said[-each:] if each and not rest else said
        of = f"the last of {runs} runs" if len(shown) < len(said) else "all its runs"
        if brief := [s for s in shown if any(one.search(s) for one in summary)]:
            of = f"summary of {of}" if len(brief) < len(shown) else of
            shown = brief
        if len(shown) > MAX_LINES:
            of, shown = f"its last {MAX_LINES} lines", shown[-MAX_LINES:]
        lines += ["", *wrap(f"Verbatim, {arm}{several} ({of}):"), *(f"| {plain(s)}" for s in shown)]
    return lines


def _events(table: Table) -> list[str]:
    words = [f"{arm} {read:,} ({lost:,} lost)" for arm, (read, lost) in table.counted.items()]
    return [*wrap(f"Events of the counted runs: {', '.join(words)}."), ""] if words else []
