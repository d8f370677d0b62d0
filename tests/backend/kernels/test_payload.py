# SPDX-License-Identifier: GPL-2.0-or-later
"""A bzImage and a vmlinux that are two kernels are found out, when made and when stored before."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from duet.base.budgets import KERNEL_OFFSETS
from duet.base.errors import InfraError, KernelError
from duet.confine.sandbox import can_change_user
from duet.kernels import ArmSpec, KernelSettings, inputs
from duet.kernels import image as payload
from duet.kernels.image import build_ids, is_payload, read_system_map
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
REAL_BYTES = 32 << 20


def packed(kernel: bytes) -> bytes:
    """As arch/x86/boot makes it: code before the compressed kernel, its length behind it, which is
    of a real one more than a block of lz4 may have, and so no block to it."""
    made = subprocess.run(["lz4", "-l", "-c"], input=kernel, capture_output=True, check=True)
    return b"boot\x02\x21\x4c\x18code" + made.stdout + REAL_BYTES.to_bytes(4, "little") + b"end"


def kernel(name: str) -> bytes:
    """With a vDSO that all kernels share, as real ones have."""
    return b"ELF" * 1000 + miniature.kernel_of("vdso") + miniature.kernel_of(name)


def test_a_compressed_kernel_differs_from_another_of_the_same_length(tmp_path: Path) -> None:
    image, vmlinux = tmp_path / "bzImage", tmp_path / "vmlinux"
    vmlinux.write_bytes(kernel("srcu-a") + b"DWARF")
    image.write_bytes(packed(kernel("srcu-a")))
    assert len(build_ids(vmlinux)) == 2 and is_payload(image, vmlinux)
    image.write_bytes(packed(kernel("srcu-b")))
    assert not is_payload(image, vmlinux)


def test_what_is_no_kernel_is_none(tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(b"text")
    assert not is_payload(tmp_path / "vmlinux", tmp_path / "vmlinux")


@pytest.mark.parametrize(
    "pack", [["lz4", "-l", "-c"], ["zstd", "-c"], ["gzip", "-c"], ["xz", "-c"]]
)
def test_what_a_file_unpacks_to_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: list[str]
) -> None:
    monkeypatch.setattr(payload, "UNPACKED_KERNEL_BYTES", 3 << 20)
    made = subprocess.run(pack, input=bytes(64 << 20), capture_output=True, check=True).stdout
    head = bytearray(0x250)
    head[payload.HEADER_AT : payload.HEADER_AT + 4] = b"HdrS"
    head[payload.SETUP_SECTS_AT] = 1
    struct.pack_into("<II", head, payload.PAYLOAD_AT, 0, len(made))
    image = tmp_path / "bzImage"
    image.write_bytes(bytes(head).ljust(2 * payload.SECTOR_BYTES, b"\0") + made)
    found = list(payload.kernels(image))
    assert max(map(len, found[1:])) == 3 << 20


def test_few_places_of_a_file_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(payload, "_piped", lambda _, packed: tried.append(len(packed)) or b"")
    image = tmp_path / "bzImage"
    image.write_bytes(payload.LZ4 * 10_000)
    list(payload.kernels(image))
    assert len(tried) == KERNEL_OFFSETS


@pytest.mark.skipif(not can_change_user(), reason="only root gives programs a user of their own")
def test_a_program_that_unpacks_has_a_user_and_limits_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "lz4"
    shown.write_text("#!/bin/sh\nid -u\nulimit -v\ngrep CapEff /proc/self/status\n")
    for folder in (shown, *shown.parents):
        folder.chmod(folder.stat().st_mode | 0o005)
    monkeypatch.setattr(payload, "find_program", lambda *_: str(shown))
    uid, limit, _, caps = payload._piped(["lz4"], b"").split()
    assert int(uid) > 60_000 and int(limit) == 1 << 20 and int(caps, 16) == 0


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InfraError, match="lz4"):
        payload._piped(["lz4", "-dcf"], b"x")


def test_a_line_that_is_no_symbol_is_named() -> None:
    assert read_system_map("ffffffff81000000 T _text\n") == {"_text": 0xFFFFFFFF81000000}
    with pytest.raises(InfraError, match="line 2 of System"):
        read_system_map("ffffffff81000000 T _text\nnot one\n")


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


def test_two_kernels_are_not_stored(settings: KernelSettings, tmp_path: Path) -> None:
    image = miniature.store_toy(settings, inputs(STOCK, settings))
    files = {path.name: path for path in image.folder.iterdir() if path.name != "manifest.json"}
    files["bzImage"] = tmp_path / "other"
    files["bzImage"].write_bytes(packed(kernel("other")))
    with pytest.raises(KernelError, match="whose kernel is not the one in vmlinux"):
        settings.store.publish(files, image.manifest.model_copy(update={"key": "0" * 24}))
    assert [path.name for path in settings.store.folder.iterdir()] == [image.key]
