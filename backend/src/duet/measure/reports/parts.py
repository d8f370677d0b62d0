# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of every text report: what is wrong on top, what it was made of at the end. Pure."""

from __future__ import annotations

from duet.measure.apart import base_words, other_bases, other_compilers
from duet.measure.clock import of_the_clock
from duet.measure.compare import why_refused
from duet.measure.host_facts import host_words
from duet.measure.model import ArmFacts, Report, SourceFacts, Table
from duet.measure.reports.text import (
    Block,
    clock_words,
    command,
    labelled,
    params_words,
    wrap,
)
from duet.measure.spread import ratio_words, spread_words

SHORT = 12
"""Digits of a hash that are shown."""
MAX_REASONS = 8


def alarms(report: Report) -> list[str]:
    """What a reader must know before any number: partial, failed, refused."""
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
    """Sentences of comparisons refused for a reason of their own, not one of the whole table."""
    reasons = {refusal.rstrip(".") for refusal in table.refusals}
    return [
        c.sentence
        for c in table.comparisons
        if (why := why_refused(c)) is not None and why.rstrip(".") not in reasons
    ]


def head(report: Report) -> list[str]:
    """Title and question."""
    return [*wrap(f"{report.title} ({report.lesson})"), *wrap(report.question), ""]


def setting(report: Report, table: Table, *, swept: bool = False) -> list[str]:
    """Workload and clock of one table, and with the first one the machine.

    Args:
        swept: it stands for all values of the swept knob.
    """
    knobs = params_words(table, report.sweep if swept else None)
    lines = labelled("Workload", f"{table.condition.workload}  {knobs}".strip())
    lines += labelled("Clock", clock_words(table))
    return [*lines, *(labelled("Machine", machine(report)) if table is report.tables[0] else [])]


def machine(report: Report) -> str:
    """'QEMU 7.2.22 (tcg) guests, emulated by software; host: <cpu>, 2 CPUs, Linux 6.1'."""
    host = report.host
    guest = f"QEMU {host.get('qemu', '')} ({host.get('accel', '?')})".replace("  ", " ")
    parts = [
        host.get("cpu", ""),
        f"{host['cpus']} CPUs" if host.get("cpus") else "",
        f"{host['memory_mib']} MiB" if host.get("memory_mib") else "",
        host.get("os", ""),
        f"Linux {host['kernel']}" if host.get("kernel") else "",
        host.get("hardware", ""),
        f"the guest's own CPUs: {host['own_cpus']}" if host.get("own_cpus") else "",
    ]
    words = ", ".join(part for part in parts if part)
    how = {"tcg": ", emulated by software", "kvm": ", under KVM"}.get(host.get("accel", ""), "")
    return f"{guest} guests{how}; host: {words}" if words else "unknown"


def hosts(report: Report) -> list[str]:
    """Where each comparison ran on a pool; nothing of a measurement on this machine."""
    if not report.hosts:
        return []
    said = [line for one in report.hosts for line in wrap(host_words(one), "    ", "  ")]
    return ["Hosts:", *said, ""]


def provenance(report: Report) -> list[str]:
    """Kernels, patches, the command, the date."""
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
        lines += wrap(f"programs of the guests: {words}", "    ", "  ")
    first_of_all = report.made_by if report.made_by != report.command else ""
    made_by = command(first_of_all) if first_of_all else []
    lines += ["", "Reproduce:", *made_by, *command(report.command), ""]
    by = f"Kernel Duet {report.by}".strip()
    return [*lines, *wrap(f"Measured {report.at} by {by}.")]


def _making(report: Report) -> list[tuple[str, dict[str, str]]]:
    """What else kernels are made of -> arm -> its value; what nobody wrote down is left out."""
    arms = report.arms
    known = [
        ("compiler", {arm.name: arm.compiler for arm in arms}),
        ("configuration", {arm.name: arm.settings for arm in arms}),
        ("source, sha256", {arm.name: arm.tarball_sha256[:SHORT] for arm in arms}),
    ]
    return [(what, {k: v for k, v in values.items() if v}) for what, values in known]


def _alike(what: str, values: dict[str, str]) -> list[str]:
    """One line where all arms have the same, else one for each value."""
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
    """One arm.

    Args:
        another: it stands on another base than the first.
        tried: files of its patches are those of a trial, which no reader has.
    """
    own = " + ".join(_patches(arm, files=not tried)) or "no patch of its own"
    facts = [
        f"Linux {arm.kernel}" if arm.kernel else "kernel never booted",
        source_words(arm.source) if arm.source is not None else "",
        f"base {base_words(arm)}" if arm.base else "",
        f"config {arm.config_sha256[:SHORT]}" if arm.config_sha256 else "",
        f"build {arm.key[:SHORT]}" if arm.key else "",
        own,
    ]
    lines = wrap(f"{arm.name} ({arm.role}): {', '.join(f for f in facts if f)}", "    ", "  ")
    if arm.both != shared:
        words = ", ".join(f"{name} {sha[:SHORT]}" for name, sha in arm.both) or "none"
        unfair = "UNFAIR: its shared patches differ"
        why = "another base, with shared patches of its own" if another else unfair
        lines += wrap(f"{why}: {words}", "    ", "    ")
    return lines


def _patches(arm: ArmFacts, *, files: bool) -> list[str]:
    """Each patch of its own: file, hash of its diff, and where it comes from.

    Args:
        files: name it by its file; else by its subject alone, where that is known.
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
    """'source 6.6.7 at commit 0123456789ab (v6.6.7), dirty (its changes: 0a1b2c3d4e5f)'."""
    if not source.commit:
        return f"source {source.version} of no commit, tree {source.tree[:SHORT]}"
    short = source.commit[:SHORT]
    name = f" ({source.describe})" if source.describe not in ("", short) else ""
    changes = f" (its changes: {source.changes[:SHORT]})" if source.changes else ""
    state = f"dirty{changes}" if source.dirty else "clean"
    return f"source {source.version} at commit {short}{name}, {state}"


def verdicts(block: Block) -> list[str]:
    """The sentence of every comparison, or why there is none."""
    lines = []
    for one in block.series:
        if one.refused:
            lines += wrap(f"{one.arm}: no number: {one.refused.rstrip('.')}.", "    ", "  ")
    for one in block.series[1:]:
        found = block.comparison(one.arm)
        if found is not None:
            said = "" if found.verdict == "refused" else "verdict: "
            lines += wrap(said + found.sentence, "    ", "  ")
    if block.first.extra:
        lines.append("  no verdict is drawn from it")
    return [*lines, *layouts(block)]


def layouts(block: Block) -> list[str]:
    """What further links of the kernels do to a metric; nothing where none ran."""
    said = [spread_words(one) for one in block.series]
    for one in block.series[1:]:
        found = block.comparison(one.arm)
        if found is not None and not block.first.extra:
            said.append(ratio_words(one, block.first, found.ratio))
    return [line for words in said if words for line in wrap(words, "    ", "  ")]


def whole(*parts: list[str]) -> str:
    """Lines as text."""
    return "\n".join(line.rstrip() for part in parts for line in part) + "\n"
