# SPDX-License-Identifier: GPL-2.0-or-later
"""A bzImage and a vmlinux that are two kernels are found out, when made and when stored before."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from duet.errors import KernelError
from duet.kernels import ArmSpec, KernelSettings, inputs, lookup
from duet.kernels.payload import build_ids, is_payload
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")


def packed(kernel: bytes) -> bytes:
    """As arch/x86/boot makes it: code before the compressed kernel, its length behind it."""
    made = subprocess.run(["lz4", "-l", "-c"], input=kernel, capture_output=True, check=True)
    return b"boot\x02\x21\x4c\x18code" + made.stdout + len(kernel).to_bytes(4, "little") + b"end"


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


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


def test_two_kernels_are_not_stored(settings: KernelSettings, tmp_path: Path) -> None:
    image = miniature.store_toy(settings, inputs(STOCK, settings))
    files = {path.name: path for path in image.folder.iterdir() if path.name != "manifest.json"}
    files["bzImage"] = tmp_path / "other"
    files["bzImage"].write_bytes(packed(kernel("other")))
    with pytest.raises(KernelError, match="another kernel than vmlinux"):
        settings.store.publish(files, image.manifest.model_copy(update={"key": "0" * 24}))
    assert [path.name for path in settings.store.folder.iterdir()] == [image.key]


def test_an_image_of_a_time_when_nobody_looked_is_looked_at_once(settings: KernelSettings) -> None:
    image = miniature.store_toy(settings, inputs(STOCK, settings))
    file = image.folder / "manifest.json"

    def forget() -> None:
        tree = json.loads(file.read_text())
        file.write_text(json.dumps({key: tree[key] for key in tree if key != "proven"}))

    forget()
    assert lookup(image.key, settings) == image
    assert json.loads(file.read_text())["proven"] is True
    other = packed(kernel("other"))
    image.bzimage.write_bytes(other)
    sizes = json.loads((image.folder / "sizes.json").read_text())
    (image.folder / "sizes.json").write_text(json.dumps(sizes | {"bzImage": len(other)}))
    assert lookup(image.key, settings) is not None, "it is looked at once"
    forget()
    assert lookup(image.key, settings) is None
