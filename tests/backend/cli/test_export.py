# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports hold what the recording holds: counted by other programs, or against the tables."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError
from duet.bundle import Bundle, Record, open_bundle
from duet.bundle.manifest import LENS
from duet.bundle.reader import read_lane
from duet.cli.entry import main
from duet.export import export, perfetto, scene_of
from duet.export.scene import Target
from duet.lenses import Sample
from duet.lenses.records import pack_record
from duet.lessons import load as lessons
from tests.backend.cli.bundles import recording, rewritten

ONE_EACH = [
    lessons.load(slug).recordings()[0]
    for slug in lessons.slugs()
    if lessons.load(slug).recordings()
]
REPORT_LINE = re.compile(r"^\s*.{1,16}-\d+\s+\[\d+\]\s+(?:[\w.]{4,8}\s+)?\d+\.\d+:\s+(\S+):")
"""trace-cmd of Debian 13 writes flags of the interrupt's state before the time."""
Printed = pytest.CaptureFixture[str]


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def lesson_of(path: Path) -> str:
    return path.parent.parent.name


def counted(bundle: Bundle, arm: str) -> Counter[str]:
    lane = read_lane(bundle, arm)
    found: Counter[str] = Counter()
    for part in lane.decoded(lane.decoder()):
        for name, table in part.tables.items():
            found[name] += len(table)
    return found


# trace.dat


@pytest.mark.parametrize("path", ONE_EACH, ids=lesson_of)
def test_trace_cmd_reads_as_many_events_of_each_kind(path: Path, tmp_path: Path) -> None:
    if shutil.which("trace-cmd") is None:
        pytest.skip("trace-cmd is not installed: apt-get install trace-cmd")
    bundle = open_bundle(path)
    written = export(bundle, "trace.dat", tmp_path / "out")
    assert [Path(name).stem for name in written] == [arm.name for arm in bundle.manifest.arms]
    for name in written:
        done = subprocess.run(
            ["trace-cmd", "report", "-N", name], capture_output=True, timeout=120, check=True
        )
        lines = done.stdout.decode(errors="replace").splitlines()
        assert lines[0].startswith("cpus=") and not done.stderr
        found = Counter(match[1] for line in lines if (match := REPORT_LINE.match(line)))
        wanted = counted(bundle, Path(name).stem)
        assert found == Counter({event.split("/")[1]: n for event, n in wanted.items()})
        assert len(lines) == 1 + sum(wanted.values())


def test_trace_cmd_says_times_tasks_and_fields(tmp_path: Path) -> None:
    if shutil.which("trace-cmd") is None:
        pytest.skip("trace-cmd is not installed: apt-get install trace-cmd")
    path = recording("02-grace-periods/recorded/9-hogs.duet")
    export(open_bundle(path), "trace.dat", tmp_path)
    done = subprocess.run(
        ["trace-cmd", "report", str(tmp_path / "srcu.dat")], capture_output=True, text=True
    )
    assert re.search(r"storm-0-\d+ .*srcu_gp_state: ", done.stdout)
    lane = read_lane(open_bundle(path), "srcu")
    switches = next(p.tables["sched/sched_switch"] for p in lane.decoded(lane.decoder()))
    micros = f"{round(switches.ts_ns[0] / 1000) / 1e6:.6f}"
    assert re.search(rf" {re.escape(micros)}: sched_switch: ", done.stdout)
    dump = subprocess.run(
        ["trace-cmd", "dump", "--summary", "--options", str(tmp_path / "srcu.dat")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "6" in dump.stdout and "mono" in dump.stdout


# csv


@pytest.mark.parametrize("path", ONE_EACH, ids=lesson_of)
def test_csv_has_every_event_and_every_row(path: Path, tmp_path: Path) -> None:
    bundle = open_bundle(path)
    export(bundle, "csv", tmp_path / "out")
    rows = {file.stem: rows_of(file) for file in (tmp_path / "out").iterdir()}
    scene = scene_of(bundle)
    for arm in scene.arms:
        for event, n in counted(bundle, arm).items():
            found = rows[f"events-{event.replace('/', '-')}"]
            assert sum(row["lane"] == arm for row in found) == n
        for table in ("spans", "open", "ops", "links", "points"):
            found = [row for row in rows[table] if row["lane"] == arm]
            assert len(found) == len(scene.table(arm, table)["id"])
        assert sum(row["lane"] == arm for row in rows["rows"]) == len(scene.rows(arm))
        kept = {row["figure"]: row["value"] for row in rows["figures"] if row["lane"] == arm}
        assert int(kept["metrics.ops"]) == scene.played.lanes[arm].metrics.ops
        for probe in scene.probes:
            numbers = [r for r in rows[f"samples-{probe}"] if r["lane"] == arm]
            mine = [s for s, _ in scene.samples(arm) if s.probe == probe]
            assert len({row["sample"] for row in numbers}) == len([s for s in mine if s.n])
    assert {row["kind"] for row in rows["spans"]} <= {k.name for k in scene.lesson.kinds}


def test_a_text_that_looks_like_a_formula_is_marked(tmp_path: Path) -> None:
    bundle = open_bundle(recording())
    name = read_lane(bundle, "stock").lines[0].text.encode()[:6]

    def evil(records: list[Record]) -> list[Record]:
        return [r._replace(payload=r.payload.replace(name, b"=cmd()")) for r in records]

    path = rewritten(tmp_path / "evil.duet", bundle, records=evil)
    export(open_bundle(path), "csv", tmp_path / "out")
    texts = [row["text"] for row in rows_of(tmp_path / "out" / "lines.csv")]
    assert any(text.startswith("'=cmd()") for text in texts)
    assert not any(text.startswith("=") for text in texts)


# perfetto


class Trace:
    """A trace as Perfetto's own protos read it."""

    def __init__(self, content: bytes) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

        trace = protos.Trace()
        trace.ParseFromString(content)
        self.tracks: dict[int, Any] = {}
        self.events: dict[int, list[Any]] = defaultdict(list)
        self.names: dict[int, str] = {}
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id
            self.names |= {x.iid: x.name for x in packet.interned_data.event_names}
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                assert packet.track_event.track_uuid in self.tracks, "reported before it is used"
                self.events[packet.track_event.track_uuid].append(packet)

    def process(self, uuid: int) -> str:
        while parent := self.tracks[uuid].parent_uuid:
            uuid = parent
        return str(self.tracks[uuid].process.process_name)

    def slices(self) -> Counter[tuple[str, str]]:
        """(lane, name) -> how many; checks that they nest and that time never goes back."""
        found: Counter[tuple[str, str]] = Counter()
        for uuid, packets in self.events.items():
            depth, last = 0, 0
            for packet in packets:
                event = packet.track_event
                assert packet.timestamp >= last
                last = packet.timestamp
                if event.type == 1:
                    depth += 1
                    found[self.process(uuid).split(":")[0], self.names[event.name_iid]] += 1
                elif event.type == 2:
                    depth -= 1
                    assert depth >= 0
        return found

    def named(self, lane: str, name: str) -> list[Any]:
        """Events of the tracks of that name."""
        same = [uuid for uuid, track in self.tracks.items() if track.name == name]
        uuids = [uuid for uuid in same if self.process(uuid).startswith(lane)]
        return [packet for uuid in uuids for packet in self.events[uuid]]


@pytest.mark.parametrize("path", ONE_EACH, ids=lesson_of)
def test_perfettos_protos_read_every_span_operation_and_point(path: Path, tmp_path: Path) -> None:
    bundle = open_bundle(path)
    out = tmp_path / "a.pftrace"
    assert export(bundle, "perfetto", out) == {str(out): out.stat().st_size}
    trace, scene = Trace(out.read_bytes()), scene_of(bundle)
    slices = trace.slices()
    for arm in scene.arms:
        kinds = [kind.name for kind in scene.lesson.kinds]
        wanted: Counter[str] = Counter()
        for table in ("spans", "open"):
            wanted.update(kinds[k] for k in scene.table(arm, table)["kind"].tolist())
        ok = scene.table(arm, "ops")["ok"].tolist()
        wanted.update("operation" if one else "failed operation" for one in ok)
        assert Counter({n: c for (lane, n), c in slices.items() if lane == arm}) == wanted
        done = trace.named(f"{arm}:", "operations done")
        assert len(done) == len(ok)
        if done:
            assert done[-1].track_event.double_counter_value == len(ok)
        points = Counter(scene.table(arm, "points")["kind"].tolist())
        for kind, n in points.items():
            name = scene.lesson.points[kind].name
            assert len(trace.named(f"{arm}:", f"points: {name}")) == n
        starts = {f for u, ps in trace.events.items() for p in ps for f in p.track_event.flow_ids
                  if trace.process(u).startswith(f"{arm}:")}  # fmt: skip
        assert len(starts) == len(scene.table(arm, "links")["id"])
        for probe in scene.probes:
            sample = next(s for s, _ in scene.samples(arm) if s.probe == probe)
            for fact in sample.facts:
                assert trace.named(f"{arm}:", f"{probe}: {fact}")


def test_lanes_of_one_moment_stand_at_one_time(tmp_path: Path) -> None:
    bundle = open_bundle(recording("02-grace-periods/recorded/9-hogs.duet"))
    export(bundle, "perfetto", tmp_path / "a")
    trace, scene = Trace((tmp_path / "a").read_bytes()), scene_of(bundle)
    for arm in scene.arms:
        first = min(scene.table(arm, "ops")["t1_ns"])
        assert trace.named(f"{arm}:", "operations done")[0].timestamp == first


def test_spans_that_cross_go_to_two_tracks() -> None:
    spans: list[perfetto.Span] = [
        (0, 10, "a", {}), (2, 5, "in a", {}), (5, 5, "empty", {}), (8, 12, "crosses", {}),
        (10, 20, "after", {}), (30, float("inf"), "open", {}), (40, 50, "in open", {}),
    ]  # fmt: skip
    groups = perfetto.split_nested(spans)
    assert [[span[2] for span in group] for group in groups] == [
        ["a", "in a", "empty", "after", "open", "in open"],
        ["crosses"],
    ]


# where it goes


def test_what_is_there_stays_unless_forced(tmp_path: Path, capsys: Printed) -> None:
    source = str(recording())
    out = tmp_path / "a.pftrace"
    out.write_text("mine")
    assert main(["export", source, str(out), "--to", "perfetto"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["export", source, str(out), "--to", "perfetto", "--force", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["files"] == [{"path": str(out), "bytes": out.stat().st_size}]
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    assert main(["export", source, str(folder), "--to", "csv"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(["export", source, str(folder), "--to", "csv", "--force"]) == 0
    assert (folder / "mine.txt").read_text() == "mine"
    assert (folder / "spans.csv").exists()


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "stock.dat").symlink_to(outside)
    with pytest.raises(InputError):
        export(open_bundle(recording()), "trace.dat", folder)
    export(open_bundle(recording()), "trace.dat", folder, force=True)
    assert outside.read_text() == "mine"
    assert not (folder / "stock.dat").is_symlink()


@pytest.mark.parametrize("name", ["../x", "a/b", "/etc/x", ".x", "a\nb", "x" * 300])
def test_odd_names_of_files_are_refused(name: str, tmp_path: Path) -> None:
    target = Target(tmp_path, force=True)
    with pytest.raises(InputError, match="is not a valid file name"), target.file(name):
        pass
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_are_reported(tmp_path: Path) -> None:
    bundle = open_bundle(recording())
    with pytest.raises(InputError, match="'svgz' is not an export format"):
        export(bundle, "svgz", tmp_path / "x")
    with pytest.raises(InputError, match="is a folder"):
        export(bundle, "perfetto", tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        export(bundle, "perfetto", tmp_path / "none" / "x")
    (tmp_path / "file").write_text("")
    for to in ("csv", "trace.dat"):
        with pytest.raises(InputError, match="should be a folder"):
            export(bundle, to, tmp_path / "file")
        with pytest.raises(InfraError, match="could not be written"):
            export(bundle, to, tmp_path / "file" / "below")


def test_what_breaks_leaves_no_half_file(tmp_path: Path) -> None:
    target = Target(tmp_path)
    with pytest.raises(ValueError), target.file("a.csv") as file:
        file.write(b"half")
        raise ValueError
    assert not list(tmp_path.iterdir()) and not target.written


def test_samples_of_odd_names_become_files_of_the_folder(tmp_path: Path) -> None:
    sample = Sample(
        "../../evil", 1, 5, 1, "guest", 1, 0, 0, 1, {"a": b"\1"}, {"a": "u1"}, {"x": 1.0}
    )

    def evil(records: list[Record]) -> list[Record]:
        return [
            *records[:40],
            Record(records[39].host_ns, LENS, pack_record(sample)),
            *records[40:],
        ]

    path = rewritten(tmp_path / "evil.duet", open_bundle(recording()), records=evil)
    export(open_bundle(path), "csv", tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.duet", "out"]
    assert "../../evil" in scene_of(open_bundle(path)).probes
    assert (tmp_path / "out" / "samples-------evil.csv").exists()
