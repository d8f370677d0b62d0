# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that were built elsewhere: the bzImage and the vmlinux of one build.

A base may name a folder that contains both files (`source: {image: FOLDER}`). Such a kernel is not
compiled, but copied into the store. Its key is a digest of its bytes. Its config is read from the
kernel itself (CONFIG_IKCONFIG) or from the `.config` in its build folder.
"""

from __future__ import annotations

import mmap
import re
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import InfraError, InputError
from duet.kernels.bases import NEEDED
from duet.kernels.image import KernelImage, is_payload, manifest_of
from duet.kernels.recipe import ArmSpec, BuildInputs, options_sha256, read_fragments, read_options
from duet.kernels.settings import KernelSettings
from duet.kernels.source import IMAGE, check_space

BZIMAGE, VMLINUX = IMAGE
BUILT_AT = Path("arch/x86/boot/bzImage")
"""Where a build puts bzImage (arch/x86/boot/Makefile)."""
BANNER = re.compile(rb"Linux version (\d+\.\d+[\w.+~-]*) ")
"""Matches linux_banner (init/version.c)."""
CONFIG_BEGINS, CONFIG_ENDS = b"IKCFG_ST", b"IKCFG_ED"
"""Markers around the gzipped config (kernel/configs.c)."""
NOT_ASKED = frozenset(("CONFIG_RANDOMIZE_BASE", "CONFIG_JUMP_LABEL"))
"""Options of NEEDED that a prebuilt kernel may set either way. `nokaslr` makes up for the first
option. If the second option is on, enabling a trace event patches code, which has crashed TCG
guests."""
DWARF = "CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"
NM_S = 120.0


class BadImage(InputError):
    """The kernel cannot be used as a guest."""

    code = "bad-kernel-image"


@dataclass(frozen=True, slots=True)
class Prebuilt:
    """Files of a kernel that was built elsewhere.

    Args:
        config: the complete configuration as text.
    """

    bzimage: Path
    vmlinux: Path
    version: str
    config: str


def read_prebuilt(given: Path, vmlinux: Path | None = None) -> Prebuilt:
    """Find and check a kernel that was built elsewhere.

    Args:
        given: the kernel's bzImage, or the folder in which it was built.
        vmlinux: ELF file of the same build; None for the path at which a kernel build creates it.

    Raises:
        BadImage: a file is missing, the files are from different builds, or an option that guests
            need is off.
    """
    bzimage = given.expanduser().resolve()
    if bzimage.is_dir():
        bzimage /= BUILT_AT if (bzimage / BUILT_AT).is_file() else BZIMAGE
    top = bzimage.parents[3] if bzimage.match(str(BUILT_AT)) else bzimage.parent
    kernel = vmlinux.expanduser().resolve() if vmlinux else top / VMLINUX
    for path, what in ((bzimage, BZIMAGE), (kernel, VMLINUX)):
        if not path.is_file():
            raise BadImage(
                f"wanted a kernel's {what} at {path}, but there is no such file.",
                remedy="Name a bzImage or a build folder with --kernel, and its ELF file with "
                "--vmlinux.",
            )
    if not is_payload(bzimage, kernel):
        raise BadImage(
            f"{bzimage.name} and {kernel.name} are from two different builds: their build IDs "
            "differ.",
            remedy="Name the vmlinux of the same build.",
        )
    with kernel.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        banner = BANNER.search(whole)
        version = banner[1].decode() if banner else ""
        config = _own_config(whole) or _config_beside(top)
        dwarf = whole.find(b".debug_info\0") >= 0
    if not version:
        raise BadImage(
            f"{kernel} is not a Linux kernel.", remedy="Name a vmlinux that a kernel build made."
        )
    _check(bzimage, config, dwarf)
    return Prebuilt(bzimage, kernel, version, config)


def prebuilt_inputs(arm: ArmSpec, settings: KernelSettings) -> BuildInputs:
    """Return the build inputs of an arm on a prebuilt image: a digest of the image's bytes.

    Raises:
        InputError: the arm has patches, but there is no source.
        NoSource: the files no longer exist.
    """
    base = settings.base_of(arm)
    if arm.patches or arm.instrumented:
        raise InputError(
            f"{arm.lesson}, {arm.name}: a kernel that was built elsewhere cannot be patched.",
            remedy="Name the source tree of the kernel, or leave the patches out.",
        )
    config = read_fragments(base.config(arm.config))
    compiler = config.get("CONFIG_CC_VERSION_TEXT", "").strip('"')
    digest = settings.tarball(base).sha256
    return BuildInputs(digest, options_sha256(config), (), compiler, "")


def store_prebuilt(arm: ArmSpec, need: BuildInputs, settings: KernelSettings) -> KernelImage:
    """Copy the kernel of an arm into the store.

    Raises:
        DuetError: the kernel can no longer be used, or there is no space for it.
    """
    folder = settings.base_of(arm).source.path
    kernel = read_prebuilt(folder / BZIMAGE, folder / VMLINUX)
    check_space(settings.cache, 2 * kernel.vmlinux.stat().st_size, "to store a kernel")
    draft = settings.cache / "prebuilt" / need.key()
    draft.mkdir(parents=True, exist_ok=True)
    made = {"System.map": draft / "System.map", "config": draft / "config"}
    made["System.map"].write_text(_symbols(kernel.vmlinux))
    made["config"].write_text(kernel.config)
    files = {BZIMAGE: kernel.bzimage, VMLINUX: kernel.vmlinux, **made}
    try:
        return settings.store.publish(files, manifest_of(need, kernel.version))
    finally:
        for path in made.values():
            path.unlink()
        draft.rmdir()


def _own_config(whole: mmap.mmap) -> str:
    """Return the config that CONFIG_IKCONFIG has stored in the kernel, or ""."""
    begin = whole.find(CONFIG_BEGINS)
    end = whole.find(CONFIG_ENDS, begin)
    if begin < 0 or end < 0:
        return ""
    try:
        packed = whole[begin + len(CONFIG_BEGINS) : end]
        return zlib.decompressobj(31).decompress(packed).decode(errors="replace")
    except zlib.error:
        return ""


def _config_beside(top: Path) -> str:
    paths = (top / ".config", top / "config")
    return next((path.read_text(errors="replace") for path in paths if path.is_file()), "")


def _check(bzimage: Path, config: str, dwarf: bool) -> None:
    options = read_options(config)
    if not options:
        raise BadImage(
            f"wanted the config of {bzimage}, but the kernel does not contain it, and there is no "
            ".config next to vmlinux.",
            remedy="Put the build's .config next to vmlinux.",
        )
    asked = NEEDED - NOT_ASKED - {DWARF}
    missing = sorted(name for name in asked if options.get(name) != "y")
    missing += [] if dwarf else ["CONFIG_DEBUG_INFO"]
    if missing:
        raise BadImage(
            f"{bzimage} cannot be a guest: it needs {', '.join(missing)} set to y.",
            remedy="Build the kernel with these options set to y rather than m. "
            "kernel-patches/bases has complete "
            "configurations.",
        )


def _symbols(vmlinux: Path) -> str:
    try:
        done = subprocess.run(
            ["nm", "--numeric-sort", str(vmlinux)],
            capture_output=True, check=True, text=True, timeout=NM_S,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise InfraError(
            f"wanted the symbols of {vmlinux}, but nm failed ({type(error).__name__}).",
            remedy="Run: ./setup.sh kernels.",
        ) from error
    return "".join(f"{line}\n" for line in done.stdout.splitlines() if line.count(" ") == 2)
