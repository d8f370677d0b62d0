# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored kernel: its files, its manifest, its symbols; and the store that keeps them by key."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from duet import durable
from duet.errors import InfraError, KernelError
from duet.kernels.payload import is_payload
from duet.kernels.recipe import BuildInputs, KernelKey

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
        """What QEMU boots."""
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
        """The full .config."""
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
