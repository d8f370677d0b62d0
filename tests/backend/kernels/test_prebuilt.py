# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels built elsewhere: what is asked of them, and their way into the store."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels.bases import NEEDED
from duet.kernels.image import is_payload
from duet.kernels.links import Layouts
from duet.kernels.prebuilt import BadImage, read_prebuilt
from tests.support import miniature

SOURCE = """
const char linux_banner[] = "Linux version 6.5.4-vng (me@host) #1 SMP";
__asm__(".section .rodata\\n.ascii \\"IKCFG_ST\\"\\n.incbin \\"config.gz\\"\\n"
        ".ascii \\"IKCFG_ED\\"\\n");
void _start(void) { __builtin_trap(); }
"""
CONFIG = "".join(f"{name}=y\n" for name in sorted(NEEDED - {"CONFIG_RANDOMIZE_BASE"}))
CONFIG += '# CONFIG_RANDOMIZE_BASE is not set\nCONFIG_CC_VERSION_TEXT="gcc 99"\n'


def boot_image(kernel: bytes, pack: Callable[[bytes], bytes] = gzip.compress) -> bytes:
    """A setup header, and the kernel where it says (Documentation/arch/x86/boot.rst)."""
    packed, setup, offset = pack(kernel), 4, 100
    head = bytearray((setup + 1) * 512)
    head[0x1F1] = setup
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", head, 0x248, offset, len(packed))
    return bytes(head) + bytes(offset) + packed + b"behind it"


def build_kernel(folder: Path, config: str = CONFIG, *flags: str) -> Path:
    """A program with what a vmlinux has of a kernel, and its bzImage, as make leaves them."""
    folder.mkdir(parents=True)
    (folder / "config.gz").write_bytes(gzip.compress(config.encode()))
    (folder / "main.c").write_text(SOURCE)
    command = ["gcc", "-g", "-nostdlib", "-static", "-Wl,--build-id=sha1", *flags]
    subprocess.run([*command, "main.c", "-o", "vmlinux"], cwd=folder, check=True)
    boot = folder / "arch/x86/boot"
    boot.mkdir(parents=True)
    (boot / "bzImage").write_bytes(boot_image((folder / "vmlinux").read_bytes()))
    return folder


def zstd(kernel: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=kernel, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstd], ids=["gzip", "bzip2", "xz", "zstd"]
)
def test_a_kernel_is_found_however_it_is_packed(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    folder, other = build_kernel(tmp_path / "a"), build_kernel(tmp_path / "b", CONFIG, "-DB")
    image = tmp_path / "bzImage"
    image.write_bytes(boot_image((folder / "vmlinux").read_bytes(), pack))
    assert is_payload(image, folder / "vmlinux")
    (other / "vmlinux").write_bytes(
        (other / "vmlinux").read_bytes().replace(b"GNU\0", b"GNU\0\1", 1)
    )
    assert not is_payload(image, other / "vmlinux")


def test_a_build_folder_has_all(tmp_path: Path) -> None:
    kernel = read_prebuilt(build_kernel(tmp_path / "linux"))
    assert kernel.version == "6.5.4-vng"
    assert "CONFIG_VIRTIO_PCI=y\n" in kernel.config
    alone = tmp_path / "vmlinuz"
    alone.write_bytes(kernel.bzimage.read_bytes())
    assert read_prebuilt(alone, kernel.vmlinux).config == kernel.config


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (CONFIG.replace("CONFIG_VIRTIO_PCI=y", "CONFIG_VIRTIO_PCI=m"), "needs CONFIG_VIRTIO_PCI"),
        ("", "wanted the config of "),
    ],
)
def test_what_guests_need_is_asked_for(tmp_path: Path, config: str, words: str) -> None:
    with pytest.raises(BadImage, match=words):
        read_prebuilt(build_kernel(tmp_path / "linux", config))


def test_types_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BadImage, match="it needs CONFIG_DEBUG_INFO set"):
        read_prebuilt(build_kernel(tmp_path / "linux", CONFIG, "-g0"))


def test_two_builds_and_missing_files_are_refused(tmp_path: Path) -> None:
    folder = build_kernel(tmp_path / "linux")
    other = build_kernel(tmp_path / "other", CONFIG + "CONFIG_MORE=y\n")
    with pytest.raises(BadImage, match="are from two different builds"):
        read_prebuilt(folder, other / "vmlinux")
    with pytest.raises(BadImage, match="wanted a kernel's vmlinux at"):
        read_prebuilt(folder, folder / "nothing")


def base_of(tmp_path: Path, folder: Path) -> KernelSettings:
    """Settings whose base `made` is that kernel."""
    settings = miniature.make_settings(tmp_path)
    base = settings.patches / "bases/made"
    base.mkdir()
    for name, file in (("bzImage", "arch/x86/boot/bzImage"), ("vmlinux", "vmlinux")):
        (base / name).symlink_to(folder / file)
    (base / "config").write_text(CONFIG)
    text = "about: of a test\nseries: '6.5'\nsource: {image: .}\nconfig: [config]\n"
    (base / "base.yaml").write_text(text)
    return settings


def test_it_is_stored_once_under_the_digest_of_its_bytes(tmp_path: Path) -> None:
    folder = build_kernel(tmp_path / "linux")
    settings = base_of(tmp_path, folder)
    arm = ArmSpec("90-toy", "theirs", base="made", instrumented=False)
    (image,) = build([arm], settings)
    assert image.manifest.kernel_version == "6.5.4-vng"
    assert (image.manifest.compiler, image.manifest.objects) == ("gcc 99", 0)
    assert image.symbols()["_start"] > 0
    assert image.cmdline == ()
    assert not list((settings.cache / "prebuilt").iterdir())
    (folder / "vmlinux").rename(folder / "moved")  # what is stored needs its source no more
    (folder / "vmlinux").write_bytes((folder / "moved").read_bytes())
    os.utime(folder / "vmlinux", ns=(1, 1))
    assert build([arm], settings) == (image,)


def test_it_takes_no_patch_and_has_no_layouts(tmp_path: Path) -> None:
    settings = base_of(tmp_path, build_kernel(tmp_path / "linux"))
    patched = ArmSpec("90-toy", "p", (Path("a.patch"),), base="made", instrumented=False)
    with pytest.raises(InputError, match="cannot be patched"):
        build([patched], settings)
    with pytest.raises(InputError, match="no other layouts"):
        build(
            [ArmSpec("90-toy", "theirs", base="made", instrumented=False)],
            settings,
            product=Layouts(3),
        )


def test_a_kernel_boots_with_what_keeps_its_addresses_as_the_lenses_expect(tmp_path: Path) -> None:
    moving = CONFIG.replace("# CONFIG_RANDOMIZE_BASE is not set", "CONFIG_RANDOMIZE_BASE=y")
    for number, (config, wanted) in enumerate(
        (
            (CONFIG, ()),
            (moving, ("nokaslr",)),
            (f"{moving}CONFIG_PGTABLE_LEVELS=5\n", ("nokaslr", "no5lvl")),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        settings = base_of(folder, build_kernel(folder / "linux", config))
        (image,) = build([ArmSpec("90-toy", "t", base="made", instrumented=False)], settings)
        assert image.cmdline == wanted
