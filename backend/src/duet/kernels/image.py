# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored kernel: its files, its manifest, its symbols; and the store that keeps them by key."""

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

# Whether a bzImage unpacks to the vmlinux of its build: what boots is what is read and reported.
#
# A stale step between the two is seen by nothing else: the kernel boots, and is another arm's.
# ccache once gave back an older piggy.o, since two kernels were the same length when compressed and
# it did not see what `.incbin` brings (see tree.py).
#
# A visitor's change chose every byte of the file. So what it unpacks to is bounded, few places are
# tried, and the programs that unpack have a user and limits of their own (sandbox.prefix).

BUILD_ID_NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
"""Head of the ELF note NT_GNU_BUILD_ID; ld writes 20 bytes after it, a digest of what it linked."""
BUILD_ID_BYTES = 20
LZ4 = b"\x02\x21\x4c\x18"
"""Magic of lz4's legacy frame, with which CONFIG_KERNEL_LZ4 compresses (scripts/Makefile.lib)."""
ZSTD = b"\x28\xb5\x2f\xfd"
HEADER_AT, SETUP_SECTS_AT, PAYLOAD_AT = 0x202, 0x1F1, 0x248
"""Places in the setup header: its magic, the number of sectors before the kernel, and offset and
length of the compressed kernel."""
SECTOR_BYTES = 512
UNPACK_S = 60.0
LIMITS = Limits(memory_bytes=1 << 30, cpu_s=30)
"""Of lz4 and zstd, which write to a pipe alone. Usual: 0.1 s, 20 MB."""
PART_BYTES = 1 << 20


def is_payload(bzimage: Path, vmlinux: Path) -> bool:
    """Whether `bzimage` holds the kernel of `vmlinux`, by the linker's build IDs.

    Raises:
        InfraError: lz4 is missing or does not end.
    """
    wanted = build_ids(vmlinux)
    return bool(wanted) and any(wanted <= _notes(kernel) for kernel in kernels(bzimage))


def build_ids(vmlinux: Path) -> set[bytes]:
    """Digests of the kernel and of the vDSOs that it carries; none of a file that is no kernel."""
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
    """The file itself, then what its places unpack to that look like a compressed kernel.

    At most KERNEL_OFFSETS are tried, and of each UNPACKED_KERNEL_BYTES are looked at.

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
    """The compressed kernel, by the setup header (Documentation/arch/x86/boot.rst); b"": none."""
    if whole[HEADER_AT : HEADER_AT + 4] != b"HdrS":
        return b""
    sectors = whole[SETUP_SECTS_AT] or 4
    offset, length = struct.unpack_from("<II", whole, PAYLOAD_AT)
    begin = (sectors + 1) * SECTOR_BYTES + offset
    return whole[begin : begin + length]


def _unpacked(packed: bytes) -> bytes:
    """By the magic of what compressed it; b"" where it is none of scripts/Makefile.lib but lzo."""
    if packed.startswith(LZ4):
        return b""  # kernels() looks for these everywhere
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
    """What a program of the package of its name writes, up to UNPACKED_KERNEL_BYTES; then it ends.

    What follows the payload is no frame: the tool complains, and has written the kernel by then.
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
            f"a kernel is looked into with {command[0]}, which failed ({type(error).__name__}).",
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
"""Bytes of each of FILES, as they were stored."""


class PatchRecord(BaseModel):
    """One applied patch: path below kernel-patches/, subject, SHA-256 of its diff."""

    model_config = ConfigDict(frozen=True)
    path: str
    subject: str
    sha256: str


class Manifest(BaseModel):
    """manifest.json: how an image came to be. `seconds` and `objects` count this build alone.

    `proven`: bzImage was seen to hold the very kernel of vmlinux.
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
    """That of a kernel that was made just now; without the last four: made elsewhere."""
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
        """Parameters that it needs so that its symbols lie where System.map says."""
        randomized = "\nCONFIG_RANDOMIZE_BASE=y\n" in self.config.read_text(errors="replace")
        return ("nokaslr",) if randomized else ()

    def symbols(self) -> dict[str, int]:
        """System.map as name -> address; of equal names (static functions) the first counts."""
        return read_system_map(self.system_map.read_text(encoding="ascii", errors="replace"))


def read_system_map(text: str) -> dict[str, int]:
    """Parse System.map lines such as 'ffffffff81000000 T _text'.

    Raises:
        InfraError: a line is of another form.
    """
    symbols: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            address, _kind, name = line.split(" ", 2)
            symbols.setdefault(name, int(address, 16))
        except ValueError:
            raise InfraError(
                f"line {number} of System.map is no symbol: {line!r:.80}.",
                remedy="Build the kernel again with ./duet build.",
            ) from None
    return symbols


def _sizes(folder: Path) -> bytes:
    """What sizes.json says of the files of an image."""
    return json.dumps({name: (folder / name).stat().st_size for name in FILES}).encode()


def _read_sizes(folder: Path) -> object:
    """The sizes that were stored; None: they cannot be read."""
    try:
        return json.loads((folder / SIZES).read_bytes())
    except (OSError, ValueError):
        return None


class Store:
    """<cache>/kernels/<key>/: complete images only, since each appears by one rename."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lookup(self, key: KernelKey) -> KernelImage | None:
        """The image under `key`; None when absent, unreadable or cut off (then it is built)."""
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
            return None  # a file was cut off or replaced after it was stored
        return image if manifest.proven else None

    def publish(self, files: Mapping[str, Path], manifest: Manifest) -> KernelImage:
        """Copy `files` (name in the store -> source) and make them visible at once.

        Raises:
            OSError: no space, among others; nothing half-made stays under the key.
            KernelError: bzImage holds another kernel than vmlinux.
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
                    f"make gave a bzImage that holds another kernel than vmlinux ({key}).",
                    remedy="Delete the folders tree and ccache of the cache, and build again.",
                )
            (draft / SIZES).write_bytes(_sizes(draft))
            (draft / "manifest.json").write_text(manifest.model_dump_json(indent=2) + "\n")
            shutil.rmtree(target, ignore_errors=True)  # only an unusable one can be here
            durable.publish_folder(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return KernelImage(key, target, manifest)


# Whether two built kernels are one: the same code and data, whatever their debug information says.
#
# A comment moves lines, so the build ID (a digest of DWARF, too) differs, and so does the line that
# each WARN_ON() leaves in __bug_table. Neither is run.


ANOTHER = "Name a patch that changes what is compiled."
BUGS = "__bug_table"
"""The section of struct bug_entry of each WARN_ON (include/asm-generic/bug.h)."""


class SameKernel(InputError):
    """Kernels that were to be compared are one, so nothing is measured."""

    code = "same-kernel"


def refuse_one(images: Mapping[str, KernelImage]) -> None:
    """Before a measurement: is there anything to compare?

    Arms that are equal on purpose, of equal inputs, may be measured.

    Args:
        images: arm -> its kernel, in order.

    Raises:
        SameKernel: the inputs differ, and the kernels are one.
    """
    first, *others = images.values()
    if others and all(one.key != first.key and same_kernel(first, one) for one in others):
        who = "both kernels" if len(others) == 1 else f"all {len(images)} kernels"
        raise SameKernel(
            f"{who} ({', '.join(images)}) are the same build, because what differs in their"
            " sources is not compiled.",
            remedy=ANOTHER,
        )


def same_kernel(one: KernelImage, other: KernelImage) -> bool:
    """Whether nothing that runs differs; False where a file cannot be read."""
    if one.key == other.key:
        return True
    try:
        ids = build_ids(one.vmlinux)
        return (ids != set() and ids == build_ids(other.vmlinux)) or (
            _digest(one.vmlinux) == _digest(other.vmlinux)
        )
    except (OSError, ValueError, IndexError, struct.error):
        return False


@lru_cache(maxsize=32)
def _digest(vmlinux: Path) -> str:
    """Of all that is loaded: names, addresses, contents; of .bss the size."""
    digest = hashlib.sha256()
    with open_data(vmlinux) as data:
        loaded = [section for section in data.sections if section.loaded]
        if not loaded:
            raise ValueError("vmlinux has no section that is loaded")
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
    """__bug_table with zeros for the lines; as it is where DWARF does not know its entries."""
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
