# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored kernels with their files, manifests and symbols; the store is indexed by key."""

from __future__ import annotations

import bz2
import hashlib
import json
import lzma
import mmap
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from duet.base import files as durable
from duet.base.budgets import KERNEL_OFFSETS, UNPACKED_KERNEL_BYTES
from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.confine.sandbox import Identity, Limits, prefix
from duet.kernels.elf_data import NOTE, open_data
from duet.kernels.recipe import BuildInputs, KernelKey
from duet.kernels.vmlinux import ask as dwarf
from duet.processes.owned import find_program

# Check that a bzImage contains the vmlinux of its build: guests boot bzImage, lenses read vmlinux.
#
# Without this check, nobody would notice a bzImage that contains the kernel of another arm, because
# this kernel also boots. ccache once returned an older piggy.o: two kernels had the same compressed
# length, and ccache did not read the file that `.incbin` includes (see tree.py).
#
# A visitor's change can control every byte of the bzImage. So the unpacked size is limited, few
# offsets are tried, and the unpackers run with resource limits as another user (sandbox.prefix).

BUILD_ID_NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
"""Head of the ELF note NT_GNU_BUILD_ID, after which ld writes a 20-byte digest of its output."""
BUILD_ID_BYTES = 20
LZ4 = b"\x02\x21\x4c\x18"
"""Magic number of lz4's legacy frame, which CONFIG_KERNEL_LZ4 uses (scripts/Makefile.lib)."""
ZSTD = b"\x28\xb5\x2f\xfd"
HEADER_AT, SETUP_SECTS_AT, PAYLOAD_AT = 0x202, 0x1F1, 0x248
"""Offsets in the setup header: of its magic number, of the number of sectors before the kernel, and
of the compressed kernel's offset and length."""
SECTOR_BYTES = 512
UNPACK_S = 60.0
LIMITS = Limits(memory_bytes=1 << 30, cpu_s=30)
"""Limits of lz4 and zstd, which only write to a pipe. They usually need 0.1 s and 20 MB."""
PART_BYTES = 1 << 20


def is_payload(bzimage: Path, vmlinux: Path) -> bool:
    """Whether `bzimage` contains the kernel in `vmlinux`, according to the linker's build IDs.

    Raises:
        InfraError: lz4 is missing or does not finish.
    """
    wanted = build_ids(vmlinux)
    return bool(wanted) and any(wanted <= _notes(kernel) for kernel in kernels(bzimage))


def build_ids(vmlinux: Path) -> set[bytes]:
    """Return the build IDs of a kernel and its vDSOs, or none if the file is not a kernel."""
    with vmlinux.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return _notes(whole)


def _notes(whole: bytes | mmap.mmap) -> set[bytes]:
    found = set()
    at = whole.find(BUILD_ID_NOTE)
    while at >= 0:
        begin = at + len(BUILD_ID_NOTE)
        found.add(bytes(whole[begin : begin + BUILD_ID_BYTES]))
        at = whole.find(BUILD_ID_NOTE, begin)
    return found


def kernels(bzimage: Path) -> Iterator[bytes]:
    """Yield the file itself, then each decompressed part of the file that may be a kernel.

    At most KERNEL_OFFSETS offsets are tried, each up to UNPACKED_KERNEL_BYTES.

    Raises:
        InfraError: see is_payload.
    """
    whole = bzimage.read_bytes()
    yield whole
    if packed := _payload(whole):
        yield _unpacked(packed)
    at = whole.find(LZ4)
    for _ in range(KERNEL_OFFSETS):
        if at < 0:
            return
        yield _piped(["lz4", "-dcf"], whole[at:])
        at = whole.find(LZ4, at + 1)


def _payload(whole: bytes) -> bytes:
    """Return the compressed kernel that the setup header refers to, or b"" (x86/boot.rst)."""
    if whole[HEADER_AT : HEADER_AT + 4] != b"HdrS":
        return b""
    sectors = whole[SETUP_SECTS_AT] or 4
    offset, length = struct.unpack_from("<II", whole, PAYLOAD_AT)
    begin = (sectors + 1) * SECTOR_BYTES + offset
    return whole[begin : begin + length]


def _unpacked(packed: bytes) -> bytes:
    """Decompress a known format; return b"" for lzo, lz4 and unknown formats."""
    if packed.startswith(LZ4):
        return b""  # kernels() finds lz4 frames itself
    if packed.startswith(ZSTD):
        return _piped(["zstd", "-dcqf"], packed)
    try:
        if packed.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(wbits=31).decompress(packed, UNPACKED_KERNEL_BYTES)
        if packed.startswith(b"BZh"):
            return bz2.BZ2Decompressor().decompress(packed, UNPACKED_KERNEL_BYTES)
        if packed.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
            unpacker = lzma.LZMADecompressor(memlimit=LIMITS.memory_bytes)
            return unpacker.decompress(packed, UNPACKED_KERNEL_BYTES)
    except (zlib.error, OSError, EOFError, lzma.LZMAError):
        pass
    return b""


def _piped(command: list[str], packed: bytes) -> bytes:
    """Return up to UNPACKED_KERNEL_BYTES of a decompressor's output, then kill the decompressor.

    The bytes after the compressed kernel are not a valid frame. The decompressor reports an error
    about them, but only after it has written the kernel.
    """
    try:
        with tempfile.TemporaryFile() as file, Identity() as identity:
            file.write(packed)
            file.seek(0)
            program = find_program(command[0], command[0])
            words = [*prefix(LIMITS, uid=identity.uid), program, *command[1:]]
            with subprocess.Popen(
                words, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            ) as running:
                assert running.stdout is not None
                try:
                    return _read(running.stdout, time.monotonic() + UNPACK_S)
                finally:
                    running.kill()
    except (OSError, TimeoutError) as error:
        raise InfraError(
            f"wanted to unpack a kernel with {command[0]}, which failed ({type(error).__name__}).",
            remedy="Run: ./setup.sh kernels.",
        ) from error


def _read(pipe: IO[bytes], until: float) -> bytes:
    found = bytearray()
    while len(found) < UNPACKED_KERNEL_BYTES:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise TimeoutError
        part = os.read(pipe.fileno(), min(PART_BYTES, UNPACKED_KERNEL_BYTES - len(found)))
        if not part:
            break
        found += part
    return bytes(found)


FILES = ("bzImage", "vmlinux", "System.map", "config")
SIZES = "sizes.json"
"""Name of the file that records the size of each of FILES, in bytes."""


class PatchRecord(BaseModel):
    """One applied patch: path below kernel-patches/, subject, SHA-256 of its diff."""

    model_config = ConfigDict(frozen=True)
    path: str
    subject: str
    sha256: str


class Manifest(BaseModel):
    """Provenance of an image (manifest.json). `seconds` and `objects` cover only this build.

    `proven`: whether a check has shown that bzImage contains the kernel in vmlinux.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    schema_version: int = 1
    key: str
    kernel_version: str
    package: str
    tarball_sha256: str
    config_sha256: str
    patches: tuple[PatchRecord, ...]
    compiler: str
    linker: str
    built_at: str
    seconds: float
    objects: int
    cold: bool
    proven: bool = False


def manifest_of(
    need: BuildInputs,
    version: str,
    package: str = "",
    *,
    seconds: float = 0.0,
    objects: int = 0,
    cold: bool = False,
) -> Manifest:
    """Return a new kernel's manifest. Omit the last four arguments for a prebuilt kernel."""
    patches = tuple(
        PatchRecord(path=p.path, subject=p.subject, sha256=p.sha256) for p in need.patches
    )
    return Manifest(
        key=need.key(),
        kernel_version=version,
        package=package,
        tarball_sha256=need.tarball_sha256,
        config_sha256=need.config_sha256,
        patches=patches,
        compiler=need.compiler,
        linker=need.linker,
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        objects=objects,
        cold=cold,
    )


@dataclass(frozen=True, slots=True)
class KernelImage:
    """One kernel in the store. All paths exist."""

    key: KernelKey
    folder: Path
    manifest: Manifest

    @property
    def bzimage(self) -> Path:
        return self.folder / "bzImage"

    @property
    def vmlinux(self) -> Path:
        """The ELF file with DWARF, for drgn."""
        return self.folder / "vmlinux"

    @property
    def system_map(self) -> Path:
        """Addresses of all symbols."""
        return self.folder / "System.map"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def cmdline(self) -> tuple[str, ...]:
        """Boot parameters that lenses need.

        nokaslr keeps symbols at the addresses of System.map. no5lvl keeps addresses in 48 bits, to
        which the microscope shortens them (Documentation/admin-guide/kernel-parameters.txt).
        """
        config = self.config.read_text(errors="replace")
        needed = {
            "nokaslr": "\nCONFIG_RANDOMIZE_BASE=y\n",
            "no5lvl": "\nCONFIG_PGTABLE_LEVELS=5\n",
        }
        return tuple(word for word, option in needed.items() if option in config)

    def symbols(self) -> dict[str, int]:
        """Return symbol addresses from System.map by name.

        If several symbols have the same name, the first symbol counts.
        """
        return read_system_map(self.system_map.read_text(encoding="ascii", errors="replace"))


def read_system_map(text: str) -> dict[str, int]:
    """Parse System.map lines such as 'ffffffff81000000 T _text'.

    Raises:
        InfraError: a line does not have this form.
    """
    symbols: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            address, _kind, name = line.split(" ", 2)
            symbols.setdefault(name, int(address, 16))
        except ValueError:
            raise InfraError(
                f"line {number} of System.map is not a symbol: {line!r:.80}.",
                remedy="Build the kernel again with ./duet build.",
            ) from None
    return symbols


def _sizes(folder: Path) -> bytes:
    """Return the text of sizes.json for an image's files."""
    return json.dumps({name: (folder / name).stat().st_size for name in FILES}).encode()


def _read_sizes(folder: Path) -> object:
    """Read the stored sizes; return None if they cannot be read."""
    try:
        return json.loads((folder / SIZES).read_bytes())
    except (OSError, ValueError):
        return None


class Store:
    """Store of kernels, <cache>/kernels/<key>/. A rename publishes each complete image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lookup(self, key: KernelKey) -> KernelImage | None:
        """Return the image with this key, or None if it is absent, unreadable or truncated."""
        folder = self.folder / key
        try:
            manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        except (OSError, ValidationError):
            return None
        image = KernelImage(key, folder, manifest)
        parts = (image.bzimage, image.vmlinux, image.system_map, image.config)
        if not all(part.is_file() and part.stat().st_size for part in parts):
            return None
        if _read_sizes(folder) != {part.name: part.stat().st_size for part in parts}:
            return None  # a file was truncated or replaced after the image was stored
        return image if manifest.proven else None

    def publish(self, files: Mapping[str, Path], manifest: Manifest) -> KernelImage:
        """Copy `files` (name in the store -> source) and publish them by one rename.

        Raises:
            OSError: for example, the disk is full; no incomplete image remains in the store.
            KernelError: bzImage and vmlinux contain different kernels.
        """
        manifest = manifest.model_copy(update={"proven": True})
        key = KernelKey(manifest.key)
        target = self.folder / key
        draft = self.folder / f".{key}.{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            for name, source in files.items():
                shutil.copyfile(source, draft / name)
            if not is_payload(draft / "bzImage", draft / "vmlinux"):
                raise KernelError(
                    f"make built a bzImage whose kernel is not the one in vmlinux ({key}).",
                    remedy="Delete the folders tree and ccache in the cache folder, and build "
                    "again.",
                )
            (draft / SIZES).write_bytes(_sizes(draft))
            (draft / "manifest.json").write_text(manifest.model_dump_json(indent=2) + "\n")
            shutil.rmtree(target, ignore_errors=True)  # if `target` exists, its image is invalid
            durable.publish_folder(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return KernelImage(key, target, manifest)


# Find out whether two built kernels have the same code and data. Debug information may differ.
#
# If a patch adds a comment, line numbers shift. Then the build ID changes, because its digest
# includes DWARF. The line numbers of WARN_ON()s in __bug_table also change. These changes do not
# affect the code that runs.


ANOTHER = "Name a patch that changes what is compiled."
BUGS = "__bug_table"
"""Section with a struct bug_entry for each WARN_ON (include/asm-generic/bug.h)."""


class SameKernel(InputError):
    """All kernels of a comparison are identical, so there is nothing to measure."""

    code = "same-kernel"


def refuse_one(images: Mapping[str, KernelImage]) -> None:
    """Refuse a measurement if all kernels are identical.

    Arms with equal inputs have the same kernel intentionally, so measuring them is allowed.

    Args:
        images: kernel of each arm, in order.

    Raises:
        SameKernel: the inputs differ, but the kernels are identical.
    """
    first, *others = images.values()
    if others and all(one.key != first.key and same_kernel(first, one) for one in others):
        who = "both kernels" if len(others) == 1 else f"all {len(images)} kernels"
        raise SameKernel(
            f"{who} ({', '.join(images)}) are the same build, because the differences between"
            " their sources are not compiled.",
            remedy=ANOTHER,
        )


def same_kernel(one: KernelImage, other: KernelImage) -> bool:
    """Whether two kernels have identical code and data; False if a file cannot be read."""
    if one.key == other.key:
        return True
    try:
        ids = build_ids(one.vmlinux)
        if ids != set() and ids == build_ids(other.vmlinux):
            return True
        with ThreadPoolExecutor(2) as pool:  # each thread mostly waits for a child
            first, second = pool.map(_digest, (one.vmlinux, other.vmlinux))
        return first == second
    except (OSError, ValueError, IndexError, struct.error):
        return False


@lru_cache(maxsize=32)
def _digest(vmlinux: Path) -> str:
    """Digest names, addresses and contents of all loaded sections; for .bss, digest the size."""
    digest = hashlib.sha256()
    with open_data(vmlinux) as data:
        loaded = [section for section in data.sections if section.loaded]
        if not loaded:
            raise ValueError("vmlinux has no loaded section")
        for section in loaded:
            if section.kind == NOTE:
                continue  # the build ID
            digest.update(f"{section.name} {section.address} {section.size}\n".encode())
            content = data.content(section)
            if section.name == BUGS:
                content = _without_lines(content, vmlinux)
            digest.update(content)
    return digest.hexdigest()


def _without_lines(table: bytes, vmlinux: Path) -> bytes:
    """Return __bug_table with line numbers set to 0; unchanged if DWARF lacks bug_entry."""
    try:
        size = dwarf.read(vmlinux, "sizeof struct bug_entry")
        at = dwarf.read(vmlinux, "offsetof struct bug_entry.line")
    except DuetError:
        return table
    if size <= 0 or len(table) % size:
        return table
    masked = bytearray(table)
    for start in range(at, len(masked), size):
        masked[start : start + 2] = b"\0\0"
    return bytes(masked)
