# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored kernel: its files, its manifest, its symbols; and the store that keeps them by key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from duet.kernels.recipe import KernelKey


class PatchRecord(BaseModel):
    """One applied patch: path below kernel-patches/, subject, SHA-256 of its diff."""

    model_config = ConfigDict(frozen=True)
    path: str
    subject: str
    sha256: str


class Manifest(BaseModel):
    """manifest.json: how an image came to be. `seconds` and `objects` count this build alone."""

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

    def symbols(self) -> dict[str, int]:
        """System.map as name -> address; of equal names (static functions) the first counts."""
        return read_system_map(self.system_map.read_text(encoding="ascii"))


def read_system_map(text: str) -> dict[str, int]:
    """Parse System.map lines such as 'ffffffff81000000 T _text'."""
    symbols: dict[str, int] = {}
    for line in text.splitlines():
        address, _kind, name = line.split(" ", 2)
        symbols.setdefault(name, int(address, 16))
    return symbols


class Store:
    """<cache>/kernels/<key>/: complete images only, since each appears by one rename."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lookup(self, key: KernelKey) -> KernelImage | None:
        """The image under `key`; None when absent or unreadable (it is then built again)."""
        folder = self.folder / key
        try:
            manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        except (OSError, ValidationError):
            return None
        image = KernelImage(key, folder, manifest)
        parts = (image.bzimage, image.vmlinux, image.system_map, image.config)
        return image if all(part.is_file() for part in parts) else None

    def publish(self, files: Mapping[str, Path], manifest: Manifest) -> KernelImage:
        """Copy `files` (name in the store -> source) and make them visible at once.

        Raises:
            OSError: no space, among others; nothing half-made stays under the key.
        """
        key = KernelKey(manifest.key)
        target = self.folder / key
        draft = self.folder / f".{key}.{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            for name, source in files.items():
                shutil.copyfile(source, draft / name)
            (draft / "manifest.json").write_text(manifest.model_dump_json(indent=2) + "\n")
            shutil.rmtree(target, ignore_errors=True)  # only an unreadable one can be here
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return KernelImage(key, target, manifest)
