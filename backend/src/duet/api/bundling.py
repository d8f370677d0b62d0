# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished run as a .duet file: transcripts, patches, and what they were made on."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from duet import __version__
from duet.api.kernel_builds import find_image
from duet.api.parts import Wish
from duet.api.sources import lesson_symbols
from duet.bundle import ArmEntry, Manifest, Record, write_bundle
from duet.kernels import KernelSettings
from duet.session import LaneResult, RunResult


def host_fingerprint() -> dict[str, str]:
    """The machine as far as it matters for times; nothing that names it."""
    model = ""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": model or platform.machine(),
        "cpus": str(os.cpu_count() or 1),
        "memory_gib": f"{memory:.0f}",
        "kernel": platform.release(),
    }


def arm_entry(wish: Wish, lane: LaneResult, settings: KernelSettings) -> ArmEntry:
    """What the manifest says of one lane."""
    arm = wish.folder.arm(lane.arm)
    image = find_image(wish.folder, lane.arm, settings)
    return ArmEntry(
        name=arm.name,
        title=arm.title,
        role=arm.role,
        patches=arm.patches,
        kernel=image.manifest.model_dump(mode="json"),
        symbols=lesson_symbols(wish.folder, image),
        loss={"events": sum(loss.events or 0 for loss in lane.loss), "intervals": len(lane.loss)},
    )


def make_manifest(
    wish: Wish, lanes: Iterable[LaneResult], settings: KernelSettings, how: Mapping[str, str]
) -> Manifest:
    """The manifest of a run.

    Args:
        how: more facts for `host`, e.g. whether lanes ran at once.
    """
    results = list(lanes)
    qemu = next((lane.facts.qemu_version for lane in results if lane.facts), "")
    return Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        lesson=wish.folder.slug,
        clock=wish.clock,
        params=wish.params,
        workload=wish.workload,
        arms=tuple(arm_entry(wish, lane, settings) for lane in results),
        host=host_fingerprint() | dict(how),
        versions={"duet": __version__, "qemu": qemu, "python": platform.python_version()},
    )


def write_run(
    path: Path,
    wish: Wish,
    lanes: Mapping[str, LaneResult],
    records: Mapping[str, Iterable[Record]],
    settings: KernelSettings,
    how: Mapping[str, str],
) -> int:
    """Write the lanes of a run; returns the size in bytes."""
    manifest = make_manifest(wish, lanes.values(), settings, how)
    patches = {
        file.name: file.read_bytes() for arm in lanes for file in wish.folder.patch_files(arm)
    }
    return write_bundle(path, manifest, records, patches)


def bundle_bytes(wish: Wish, result: RunResult, settings: KernelSettings) -> bytes | None:
    """A live run as a bundle in memory; None when no lane kept a transcript."""
    lanes = {arm: lane for arm, lane in result.lanes.items() if lane.transcript is not None}
    if not lanes:
        return None
    records = {arm: lane.transcript.records() for arm, lane in lanes.items() if lane.transcript}
    with tempfile.TemporaryDirectory(prefix="duet-bundle-") as folder:
        path = Path(folder) / "run.duet"
        write_run(path, wish, lanes, records, settings, {"lanes": "at once"})
        return path.read_bytes()
