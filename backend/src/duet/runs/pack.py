# SPDX-License-Identifier: GPL-2.0-or-later
"""Pack a finished run into a .duet file: transcripts, patches and provenance."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from duet import __version__
from duet.base.errors import InfraError
from duet.bundle import (
    ArmEntry,
    Bundle,
    Figures,
    Manifest,
    Record,
    Waited,
    open_bundle,
    write_bundle,
)
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.processes.run_dir import RunDir
from duet.runs.sources import lesson_symbols
from duet.session import LaneResult, RunResult, RunSpec


def recording_host() -> dict[str, str]:
    """Return what a recording says of its host: facts that affect times and do not identify it."""
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


CYCLES_IN_FILES = "grace_periods"
"""Name of Metrics.cycles in recordings of formats 1 and 2."""


def figures(lane: LaneResult, tables: Mapping[str, int] | None = None) -> Figures | None:
    """Return the figures of a lane for its recording, or None if the lane failed.

    Args:
        tables: number of rows of each table; None if rows were not counted.
    """
    if lane.error is not None:
        return None
    op_ns = lane.metrics.op_ns
    metrics = {**lane.metrics.as_dict(), "op_ns": op_ns.as_dict() if op_ns else None}
    metrics[CYCLES_IN_FILES] = metrics.pop("cycles")
    del metrics["start_ns"]  # the guest's clock at the start, which is not a result
    return Figures.model_validate(
        {
            "by": __version__,
            "metrics": metrics,
            "tallies": lane.tallies,
            "tables": tables or {},
            "ops": lane.ops,
            "ops_per_s": lane.ops_per_s,
            "status": lane.status,
        }
    )


def arm_entry(
    spec: RunSpec, lane: LaneResult, settings: KernelSettings, given_figures: Figures | None
) -> ArmEntry:
    """Return a lane's entry in the manifest.

    Args:
        given_figures: figures to store if the recording was cut; None to store the figures of the
            complete run.
    """
    truncated = lane.transcript is not None and lane.transcript.truncated
    arm = spec.folder.arm(lane.arm)
    changed = [lane.arm] if lane.arm in spec.folder.changes else []
    image = find_image(spec.folder, lane.arm, settings)
    loss = {"events": sum(loss.events or 0 for loss in lane.loss), "intervals": len(lane.loss)}
    return ArmEntry(
        name=arm.name,
        title=arm.title,
        role=arm.role,
        patches=(*arm.patches, *(f"{name}.patch" for name in changed)),
        kernel=image.manifest.model_dump(mode="json"),
        kernel_version=lane.kernel or image.manifest.kernel_version,
        config_sha256=image.manifest.config_sha256,
        symbols=lesson_symbols(spec.folder, lane.arm, image),
        loss=loss | dict(lane.lost_by_place),
        truncated=truncated,
        figures=given_figures or (None if truncated else figures(lane)),
        contention=None if lane.contention is None else Waited(**asdict(lane.contention)),
        writes=arm.writes,
    )


APART, TOGETHER = "one after another", "at once"
"""Values of the field `lanes` in a manifest's host facts."""


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """How the lanes of a recording were run and cut.

    Args:
        lanes: APART or TOGETHER.
        window_ms: length of the part of each lane, from its start, that the recording keeps; None
            to keep all.
        figures: figures of each lane that was cut; other lanes get the run's figures.
        left_out: lanes that failed, and why.
    """

    lanes: str
    window_ms: int | None = None
    shift: int = 0
    seed: int = 1
    figures: Mapping[str, Figures | None] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


def make_manifest(
    spec: RunSpec, lanes: Iterable[LaneResult], settings: KernelSettings, how: RecordingFacts
) -> Manifest:
    results = list(lanes)
    facts = next((lane.facts for lane in results if lane.facts), None)
    accel = {"accel": str(facts.accel)} if facts else {}
    return Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        lesson=spec.folder.slug,
        clock=spec.clock,
        shift=how.shift if spec.clock == "count" else 0,
        seed=how.seed,
        params=spec.params,
        workload=spec.workload,
        window_ms=how.window_ms,
        arms=tuple(arm_entry(spec, lane, settings, how.figures.get(lane.arm)) for lane in results),
        left_out=dict(how.left_out),
        host=recording_host() | accel | {"lanes": how.lanes},
        versions={
            "duet": __version__,
            "qemu": facts.qemu_version if facts else "",
            "python": platform.python_version(),
        },
    )


def write_run(
    path: Path,
    spec: RunSpec,
    lanes: Mapping[str, LaneResult],
    records: Mapping[str, Iterable[Record]],
    settings: KernelSettings,
    how: RecordingFacts,
) -> int:
    """Write the lanes of a run as a bundle; return its size in bytes."""
    manifest = make_manifest(spec, lanes.values(), settings, how)
    patches = {
        file.name: file.read_bytes() for arm in lanes for file in spec.folder.patch_files(arm)
    }
    return write_bundle(path, manifest, records, patches)


def bundle_bytes(spec: RunSpec, result: RunResult, settings: KernelSettings) -> bytes | None:
    """Return a live run as a bundle, or None if all lanes failed or have no transcript."""
    lanes = {a: lane for a, lane in result.lanes.items() if lane.transcript and not lane.error}
    if not lanes:
        return None
    left_out = {a: lane.error.sentence for a, lane in result.lanes.items() if lane.error}
    records = {arm: lane.transcript.records() for arm, lane in lanes.items() if lane.transcript}
    # If this process is killed, a later process removes the folder (see RunDir).
    with RunDir() as folder:
        path = folder / "run.duet"
        write_run(
            path,
            spec,
            lanes,
            records,
            settings,
            RecordingFacts(TOGETHER, shift=spec.shift, left_out=left_out),
        )
        return path.read_bytes()


# Join the bundles of several hosts that each ran some lanes of one run.

SHARED_FIELDS: Final = ("lesson", "clock", "shift", "seed", "params", "workload", "window_ms")
"""Manifest fields that are identical for all lanes of a run."""


class Part(NamedTuple):
    """A bundle from one host.

    Args:
        arms: lanes that the server assigned to this host.
        content: bytes of the bundle.
    """

    arms: Sequence[str]
    content: bytes


def join_bundles(parts: Sequence[Part], arms: Sequence[str], left_out: Mapping[str, str]) -> bytes:
    """Join the bundles of several hosts into one. Blocking. Each bundle is untrusted.

    Args:
        arms: all arms of the run, in the order of the result.
        left_out: lanes that failed, and why.

    Raises:
        InputError: a bundle is malformed.
        InfraError: the bundles do not belong to one run, or the disk is full.
    """
    # If this process is killed, a later process removes the folder (see RunDir).
    with RunDir() as folder:
        bundles = []
        for number, part in enumerate(parts):
            path = folder / f"part-{number}.duet"
            path.write_bytes(part.content)
            bundles.append(_check_arms(open_bundle(path), part.arms))
        having = {arm: _one(bundles, arm) for arm in arms}
        lanes = {arm: bundle for arm, bundle in having.items() if bundle is not None}
        manifest = _manifest(bundles, lanes, left_out)
        records = {arm: bundle.records(arm) for arm, bundle in lanes.items()}
        patches = _patches(bundles)
        path = folder / "run.duet"
        write_bundle(path, manifest, records, patches)
        return path.read_bytes()


def _check_arms(bundle: Bundle, arms: Sequence[str]) -> Bundle:
    for entry in bundle.manifest.arms:
        if entry.name not in arms:
            raise _of_several(
                f"a host sent the lane '{entry.name:.60}', which was not assigned to that host"
            )
    return bundle


def _patches(bundles: Sequence[Bundle]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for one in bundles:
        for name in one.patches:
            if found.setdefault(name, one.patch(name)) != one.patch(name):
                raise _of_several(f"the bundles have different versions of '{name:.60}'")
    return found


def _one(bundles: Sequence[Bundle], arm: str) -> Bundle | None:
    having = [one for one in bundles if any(entry.name == arm for entry in one.manifest.arms)]
    if len(having) > 1:
        raise _of_several(f"{len(having)} bundles have the lane '{arm:.60}'")
    return having[0] if having else None


def _manifest(
    bundles: Sequence[Bundle], lanes: Mapping[str, Bundle], left_out: Mapping[str, str]
) -> Manifest:
    manifests = [one.manifest for one in bundles]
    first = manifests[0]
    for name in SHARED_FIELDS:
        if any(getattr(one, name) != getattr(first, name) for one in manifests):
            raise _of_several(f"the bundles differ in '{name}'")
    if not lanes:
        raise _of_several("no bundle has a lane of the run")
    return first.model_copy(
        update={
            "created": min(one.created for one in manifests),
            "arms": tuple(bundle.manifest.arm(arm) for arm, bundle in lanes.items()),
            "left_out": {
                **{arm: why for one in manifests for arm, why in one.left_out.items()},
                **{arm: why for arm, why in left_out.items() if arm not in lanes},
            },
            "host": _facts([one.host for one in manifests]) | {"hosts": str(len(bundles))},
            "versions": _facts([one.versions for one in manifests]),
        }
    )


def _facts(of: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Merge the facts of several hosts, joining different values with "; "."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for one in of for name in one):
        found[name] = "; ".join(dict.fromkeys(one[name] for one in of if name in one))
    return found


def _of_several(why: str) -> InfraError:
    return InfraError(
        f"hosts have sent bundles that do not belong to one run: {why}.",
        remedy="Start the run again; if this happens again, read the server's log.",
    )
