# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles come back as they were written; anything else is refused in one sentence."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import InfraError, InputError
from duet.bundle import ArmEntry, Bundle, Manifest, Record, open_bundle, read_manifest, write_bundle
from duet.bundle import archive as limits
from duet.bundle.archive import pack_stream, read_stream

RECORDS = [Record(0, -1, b"hello"), Record(5, 0, bytes(4096)), Record(5, 3, b"x")]
PATCH = b"--- a/mm/vmscan.c\n"


def manifest(*arms: str) -> Manifest:
    return Manifest(
        created="2026-01-01T00:00:00+00:00",
        lesson="02-grace-periods",
        clock="wall",
        params={"hogs": 3},
        workload="storm",
        arms=tuple(ArmEntry(name=arm, title=arm, role="before") for arm in arms or ("rwsem",)),
        host={"cpu": "a \N{GREEK SMALL LETTER MU}"},
    )


def written(folder: Path) -> Path:
    path = folder / "a.duet"
    write_bundle(
        path,
        manifest("rwsem", "srcu"),
        dict.fromkeys(("rwsem", "srcu"), RECORDS),
        {"s.patch": PATCH},
    )
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def changed(path: Path, **keys: object) -> Path:
    parts = members(path)
    tree = json.loads(parts["manifest.json"]) | keys
    return rewrite(path, {**parts, "manifest.json": json.dumps(tree).encode()})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    bundle = open_bundle(written(tmp_path))
    assert list(bundle.records("srcu")) == RECORDS
    assert bundle.patch("s.patch") == PATCH
    assert bundle.patches == ("s.patch",)
    assert bundle.manifest.params == {"hogs": 3}
    assert [p.name for p in tmp_path.iterdir()] == ["a.duet"]


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    first = written(tmp_path).read_bytes()
    assert written(tmp_path).read_bytes() == first


def test_other_zip_methods_are_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    parts = members(path)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        assert list(open_bundle(rewrite(path, parts, method)).records("rwsem")) == RECORDS


def unpacked(stream: bytes) -> Iterator[Record]:
    return read_stream(io.BytesIO(stream), len(stream), "x")


@given(st.lists(st.builds(Record, st.integers(0, 2**64 - 1), st.integers(-1, 63), st.binary())))
def test_records_survive_packing(records: list[Record]) -> None:
    wanted = [record for record in records if record.payload]
    assert list(unpacked(pack_stream(records))) == wanted


@given(st.binary(max_size=200))
def test_any_bytes_are_records_or_an_error(stream: bytes) -> None:
    try:
        list(unpacked(stream))
    except InputError as error:
        assert "broken at byte" in error.sentence


def refused(path: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        open_bundle(path)
    assert caught.value.sentence.count("\n") == 0
    assert caught.value.remedy


def test_a_missing_file_and_a_file_that_is_no_zip_are_distinguished(
    tmp_path: Path,
) -> None:
    refused(tmp_path / "none.duet", "there is no recording none.duet")
    (tmp_path / "b.duet").write_bytes(b"not a zip")
    refused(tmp_path / "b.duet", "not a zip file")


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    refused(path, "not a zip file")


@pytest.mark.parametrize(("number", "remedy"), [(1, "Record it again"), (3, "Use a newer")])
def test_another_format_says_so(tmp_path: Path, number: int, remedy: str) -> None:
    path = changed(written(tmp_path), format=number)
    with pytest.raises(InputError, match=f"format {number}, but this .* only format 2") as caught:
        open_bundle(path)
    assert caught.value.remedy.startswith(remedy)


def test_an_unknown_key_or_a_wrong_type_names_its_place(tmp_path: Path) -> None:
    refused(changed(written(tmp_path), colour="red"), "manifest.json: colour")
    refused(changed(written(tmp_path), clock="sun"), "manifest.json: clock")


def test_a_wrong_checksum_names_the_member(tmp_path: Path) -> None:
    path = written(tmp_path)
    parts = members(path) | {"patches/s.patch": b"other"}
    refused(rewrite(path, parts), r"patches/s.patch does not match its checksum")


def test_flipped_bytes_inside_never_pass(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 17):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            bundle = open_bundle(path)
        except InputError:
            continue
        assert list(bundle.records("rwsem")) == RECORDS


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "lanes/../x/stream.bin",
        "lanes/A/stream.bin",
        "x\\y",
        "patches/..",
    ],
)
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    path = written(tmp_path)
    refused(rewrite(path, members(path) | {name: b""}), "invalid name")


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    more = {f"patches/p{n}": b"" for n in range(limits.MEMBERS)}
    refused(rewrite(path, members(path) | more), "members, but only 64 are allowed")


def test_members_that_no_sum_knows_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    refused(rewrite(path, members(path) | {"patches/x": b""}), "disagree about patches/x")


def test_a_lane_without_a_stream_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    parts = members(path)
    del parts["lanes/srcu/stream.bin"]
    refused(rewrite(path, parts), "lanes/srcu/stream.bin is missing")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    bomb = bytes(2 << 20)
    rewrite(path, members(path) | {"patches/bomb": bomb})
    assert path.stat().st_size < 20_000
    refused(path, "patches/bomb has 2097152 bytes, but only 1048576 are allowed")
    path = written(tmp_path)
    monkeypatch.setattr(limits, "TOTAL_BYTES", 5000)
    refused(path, "the file has .* when unpacked, but only 5000 are allowed")
    with pytest.raises(InputError, match="more than a reader accepts"):
        written(tmp_path)
    monkeypatch.setattr(limits, "FILE_BYTES", 100)
    refused(path, "but only 100 are allowed")


def test_a_size_that_lies_is_refused(tmp_path: Path) -> None:
    path = rewrite(written(tmp_path), members(written(tmp_path)), zipfile.ZIP_STORED)
    whole = bytearray(path.read_bytes())
    at = whole.rindex(b"PK\x01\x02")
    struct.pack_into("<I", whole, at + 24, 5)
    path.write_bytes(bytes(whole))
    with pytest.raises(InputError):
        open_bundle(path)


def test_a_broken_record_is_found_when_the_bundle_is_opened(tmp_path: Path) -> None:
    path = written(tmp_path)
    parts = members(path)
    parts["lanes/srcu/stream.bin"] = parts["lanes/srcu/stream.bin"][:-1]
    tree = json.loads(parts["manifest.json"])
    cut = parts["lanes/srcu/stream.bin"]
    tree["sums"]["lanes/srcu/stream.bin"] = hashlib.sha256(cut).hexdigest()
    parts["manifest.json"] = json.dumps(tree).encode()
    refused(rewrite(path, parts), "ends 1 bytes before the end of a 1-byte record")


def test_a_head_with_a_long_name_is_reported_in_a_short_sentence(tmp_path: Path) -> None:
    """Found by fuzzing: what zipfile says quotes the whole name, up to 65,535 bytes of it."""
    path = rewrite(written(tmp_path), members(written(tmp_path)), zipfile.ZIP_STORED)
    whole = bytearray(path.read_bytes())
    at = whole.index(b"PK\x03\x04")
    struct.pack_into("<H", whole, at + 26, 4000)
    path.write_bytes(bytes(whole))
    with pytest.raises(InputError, match="not a zip file") as caught:
        open_bundle(path)
    assert len(caught.value.sentence) < 300
    assert caught.value.sentence.isprintable()


def test_unknown_lanes_and_patches_are_named(tmp_path: Path) -> None:
    bundle: Bundle = open_bundle(written(tmp_path))
    with pytest.raises(InputError, match="no lane 'x'") as caught:
        bundle.records("x")
    assert "rwsem, srcu" in caught.value.remedy
    with pytest.raises(InputError, match="no patch 'y'"):
        bundle.patch("y")


def test_a_folder_that_cannot_be_written_is_an_infra_error(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match=r"a.duet could not be written"):
        write_bundle(tmp_path / "none" / "a.duet", manifest(), {"rwsem": RECORDS}, {})


def test_a_lane_that_grows_without_measure_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    rewrite(path, members(path) | {"lanes/srcu/stream.bin": bytes(20 << 20)})
    refused(path, r"lanes/srcu/stream.bin would grow by a factor of more than 1000")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.duet")
    refused(tmp_path / "pipe.duet", "the path is not a regular file")
    refused(tmp_path, "the path is not a regular file")


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes().replace(b"patches/s.patch", b"patches/\xff.patch")
    at = whole.rindex(b"PK\x01\x02")
    path.write_bytes(whole[: at + 9] + b"\x08" + whole[at + 10 :])
    refused(path, "cannot be used")


@pytest.mark.parametrize("title", ["\x1b[2J", "a\x00b", "\x9b1m"])
def test_names_with_control_characters_are_refused(tmp_path: Path, title: str) -> None:
    path = written(tmp_path)
    tree = json.loads(members(path)["manifest.json"])
    tree["arms"][0]["title"] = title
    refused(changed(path, arms=tree["arms"]), "manifest.json: arms.0.title")


def test_a_script_in_a_name_stays_a_text(tmp_path: Path) -> None:
    path = written(tmp_path)
    tree = json.loads(members(path)["manifest.json"])
    tree["arms"][0]["title"] = "<script>alert(1)</script>"
    bundle = open_bundle(changed(path, arms=tree["arms"]))
    assert bundle.manifest.arms[0].title == "<script>alert(1)</script>"


def test_a_lane_named_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    tree = json.loads(members(path)["manifest.json"])
    refused(changed(path, arms=[tree["arms"][0]] * 2), "a lane is named twice")


def test_numbers_beyond_all_measure_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    for bad in (10**30, -(10**30), 0.5):
        refused(changed(path, params={"hogs": bad}), r"manifest.json: params.hogs")
    parts = members(path)
    text = parts["manifest.json"].replace(b'"hogs": 10', b"").replace(b"0.5", b"NaN")
    refused(rewrite(path, {**parts, "manifest.json": text}), "NaN is not a number")


def test_the_manifest_is_read_without_the_lanes(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert read_manifest(path) == open_bundle(path).manifest
    refused_path = rewrite(path, members(path) | {"../evil": b""})
    with pytest.raises(InputError, match="invalid name"):
        read_manifest(refused_path)
