# SPDX-License-Identifier: GPL-2.0-or-later
"""Collect the contents of a pack: kernels, guest root, QEMU, Python, this project, and their
licences.

measure  README  pack.json  unpack.py   the program to start, and what the pack is
lib  libexec  share                     ELF programs, their libraries, QEMU's firmware
python  site                            the standard library, the packages that measuring needs
project  extra                          the backend, the lessons; lessons from other folders
kernels/KEY  root  cache                bzImage, symbols, config; initramfs; compiled C
licenses                                copyright files of everything that was copied
"""

from __future__ import annotations

import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from duet.base.errors import InfraError
from duet.base.files import sha256_of
from duet.base.native import compiled, program
from duet.base.settings import repo_root
from duet.decode import decoder
from duet.guests.qemu import QEMU, QEMU_PACKAGE
from duet.guests.qemu import SOURCE as TSC_SOURCE
from duet.guests.root import GuestRoot
from duet.kernels import KernelImage
from duet.kernels.image import read_system_map
from duet.lenses.scope.coherence import stated_file
from duet.lenses.scope.native import read_operation
from duet.lessons.load import LessonFolder
from duet.plugins.pack.unpack import LOADER
from duet.processes.owned import find_program
from duet.session import reduce

PROGRAMS: Final = {
    QEMU: QEMU_PACKAGE,
    "lz4": "lz4",
    "prlimit": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "true": "coreutils",
    "nice": "coreutils",
    "bwrap": "bubblewrap",
}
OPTIONAL: Final = {"bwrap"}
"""Programs that a pack may lack. Without bwrap, guests get no namespaces, as on hosts that do not
allow namespaces.
"""
FIRMWARE: Final = ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin", "linuxboot.bin")
"""Firmware that QEMU loads for `-M q35 -kernel` without graphics."""
QEMU_DATA: Final = (Path("/usr/share/qemu"), Path("/usr/share/seabios"))
PACKAGES: Final = (
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
    "annotated_types",
    "platformdirs",
    "yaml",
    "msgpack",
    "psutil",
    "numpy",
    "numpy.libs",
)
"""Packages from site-packages. scipy and drgn are left out, because the host only measures, and
does not judge the results.
"""
NOT_PACKED: Final = (
    "tests",
    "test",
    "__pycache__",
    "f2py",
    "_pyinstaller",
    "idlelib",
    "tkinter",
    "lib2to3",
    "ensurepip",
    "turtledemo",
    "pydoc_data",
    "distutils",
    "site-packages",
)
NOT_OF_LESSONS: Final = ("recorded", "view", "i18n", "drawings")
LEFT_OUT: Final = (
    r"_test|_x|xx|_tkinter|_curses|_gdbm|_dbm|readline|nis|_ssl|_hashlib|_sqlite|_codecs_|ossaudio"
)
"""Extension modules that need extra libraries and that a measurement does not need."""
LDD_LINE: Final = re.compile(r"^\s*(\S+) => (/\S+) \(0x|^\s*(/\S+) \(0x")
LDD_S: Final = 20.0
COPYRIGHT: Final = Path("/usr/share/doc")


class Draft:
    """A pack folder while files are added to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._licences: set[str] = set()

    def add_kernel(self, image: KernelImage, symbols: Mapping[str, int]) -> None:
        """Add a kernel with the symbols that a lesson needs. Several lessons may share a kernel."""
        place = self.folder / "kernels" / image.key
        if not place.exists():
            place.mkdir(parents=True)
            for path in (image.bzimage, image.config):
                shutil.copyfile(path, place / path.name)
        system_map = place / "System.map"
        known = read_system_map(system_map.read_text()) if system_map.exists() else {}
        lines = [
            f"{address:x} T {name}\n" for name, address in sorted({**known, **symbols}.items())
        ]
        system_map.write_text("".join(lines))

    def add_root(self, root: GuestRoot) -> None:
        """Add the guests' initramfs."""
        place = self.folder / "root"
        place.mkdir()
        shutil.copyfile(root.image, place / "root.cpio.gz")

    def add_programs(self) -> None:
        """Add QEMU and the few programs that are needed to start it.

        Raises:
            InfraError: a program is not installed.
        """
        place = self.folder / "libexec"
        place.mkdir()
        for name, package in PROGRAMS.items():
            if name in OPTIONAL and shutil.which(name) is None:
                continue
            found = Path(find_program(name, package)).resolve()
            shutil.copyfile(found, place / name)
            (place / name).chmod(0o755)
            self._licences.add(package)
        share = self.folder / "share/qemu"
        share.mkdir(parents=True)
        for name in FIRMWARE:
            firmware = next((d / name for d in QEMU_DATA if (d / name).is_file()), None)
            if firmware is None:
                raise InfraError(
                    f"QEMU's firmware {name} is not in {' or '.join(map(str, QEMU_DATA))}.",
                    remedy="Run ./setup.sh, which installs QEMU with its firmware.",
                )
            shutil.copyfile(firmware, share / name)
        modules = Path("/usr/lib/x86_64-linux-gnu/qemu")
        (self.folder / "lib/qemu").mkdir(parents=True)
        for path in modules.glob("accel-tcg-x86_64.so"):
            shutil.copyfile(path, self.folder / "lib/qemu" / path.name)
        self._licences |= {"seabios", "qemu-system-common", "qemu-system-data"}

    def add_python(self) -> None:
        """Add this interpreter, its standard library as a zip file, and the packages."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        interpreter = Path(sys.executable).resolve()
        shutil.copyfile(interpreter, self.folder / "libexec/python3")
        (self.folder / "libexec/python3").chmod(0o755)
        home = self.folder / "python/lib"
        dynamic = home / version / "lib-dynload"
        dynamic.mkdir(parents=True)
        library = Path(os.__file__).parent
        _zip_compiled(library, home / f"{version.replace('.', '')}.zip")
        for path in (library / "lib-dynload").glob("*.so"):
            if not re.match(LEFT_OUT, path.name):
                shutil.copyfile(path, dynamic / path.name)
        site = self.folder / "site"
        site.mkdir()
        import numpy

        packages = Path(numpy.__file__).parents[1]
        for name in PACKAGES:
            source = packages / name
            if source.is_dir():
                _copy(source, site / name)
            else:
                shutil.copyfile(packages / f"{name}.py", site / f"{name}.py")
        for info in packages.glob("*.dist-info"):
            if info.name.partition("-")[0].lower().replace("pyyaml", "yaml") in PACKAGES:
                _copy_licences(info, self.folder / "licenses" / info.name.partition("-")[0])

    def add_project(self, folders: Sequence[LessonFolder]) -> None:
        """Add the backend, and the lessons with their patches."""
        root = repo_root()
        _copy(root / "backend/src/duet", self.folder / "project/backend/src/duet")
        _copy(root / "kernel-patches", self.folder / "project/kernel-patches")
        _copy(root / "lessons/_common", self.folder / "project/lessons/_common")
        for name in ("LICENSE", "LICENSES"):
            if (root / name).is_file():
                shutil.copyfile(root / name, self.folder / "project" / name)
        for one in folders:
            own = one.folder.parent.parent == root
            top = self.folder / ("project" if own else "extra")
            _copy(one.folder, top / "lessons" / one.slug, NOT_OF_LESSONS)
            if not own and one.patch_dir.is_dir():
                _copy(one.patch_dir, top / "kernel-patches" / one.patch_dir.name)
        shutil.copyfile(Path(__file__).with_name("unpack.py"), self.folder / "unpack.py")

    def add_native(self) -> None:
        """Add the compiled C libraries of the backend. Each library keeps its name."""
        for library in (decoder.ensure(), reduce.ensure(), compiled(TSC_SOURCE)):
            place = self.folder / "cache/native" / library.parent.name
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library, place / library.name)

    def add_replica(self, folder: LessonFolder) -> None:
        """Add a lesson's compiled native replica, and the numbers of the cache-line model."""
        compiled_program = program(read_operation(folder).source)
        place = self.folder / "cache/native" / compiled_program.parent.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(compiled_program, place / compiled_program.name)
        numbers = stated_file()
        target = self.folder / "project" / numbers.relative_to(repo_root())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(numbers, target)

    def add_libraries(self) -> None:
        """Add the dynamic loader, and the shared libraries of all programs in the folder."""
        place = self.folder / "lib"
        place.mkdir(exist_ok=True)
        elves = [path for path in self.folder.rglob("*") if path.is_file() and _is_elf(path)]
        needed: dict[str, Path] = {}
        for path in elves:
            needed |= needed_libraries(path, self.folder)
        for name, source in needed.items():
            shutil.copyfile(source, place / name)
            self._licences |= _packages_of(source)
        shutil.copyfile(Path("/lib64/ld-linux-x86-64.so.2").resolve(), self.folder / LOADER)
        (self.folder / LOADER).chmod(0o755)

    def strip(self) -> None:
        """Remove the interpreter's debug information if binutils is installed.

        Other files are left unchanged. Debian's files have no debug information. Files from wheels
        would break, because their ELF headers were rewritten.
        """
        program = shutil.which("strip")
        if program is None:
            return
        for path in [*self.folder.glob("lib/libpython*"), self.folder / "libexec/python3"]:
            subprocess.run([program, "--strip-debug", str(path)], check=False, capture_output=True)

    def first_libraries(self) -> frozenset[str]:
        """Return the paths of the libraries that Python itself needs."""
        modules = self.folder.glob("python/lib/*/lib-dynload/*.so")
        needed = (needed_libraries(path, self.folder) for path in modules)
        names = {
            LOADER.rpartition("/")[2],
            *needed_libraries(self.folder / "libexec/python3", self.folder),
        }
        return frozenset(f"lib/{name}" for name in names.union(*needed))

    def add_licences(self) -> None:
        """Add the copyright file of each Debian package from which a file was copied."""
        place = self.folder / "licenses"
        place.mkdir(exist_ok=True)
        for package in sorted(self._licences):
            path = COPYRIGHT / package / "copyright"
            if path.is_file():
                shutil.copyfile(path, place / f"{package}.txt")
        (place / "SOURCES").write_text(_sources(self._licences))

    def digests(self) -> dict[str, str]:
        """Return a mapping from the path of each file to its SHA-256."""
        paths = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): sha256_of(path) for path in paths}


def _zip_compiled(library: Path, target: Path) -> None:
    """Compile the standard library's modules, and write them into a zip file."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        made = Path(scratch, "module.pyc")
        for path in sorted(library.rglob("*.py")):
            name = path.relative_to(library)
            if set(name.parts) & set(NOT_PACKED) or "config-" in str(name):
                continue
            py_compile.compile(
                str(path), str(made), str(name), doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )  # fmt: skip
            packed.write(made, str(name.with_suffix(".pyc")))


def needed_libraries(path: Path, folder: Path) -> dict[str, Path]:
    """Return a mapping from name to file for the libraries that an ELF file needs. Libraries in the
    folder are left out."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, timeout=LDD_S)
    found = {}
    for line in done.stdout.splitlines():
        match = LDD_LINE.match(line)
        if match is None:
            continue
        where = Path(match[2] or match[3])
        if not where.is_relative_to(folder) and "ld-linux" not in where.name:
            found[match[1] or where.name] = where.resolve()
    return found


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _copy(source: Path, target: Path, without: Iterable[str] = ()) -> None:
    shutil.copytree(
        source, target, ignore=shutil.ignore_patterns(*NOT_PACKED, *without), dirs_exist_ok=True
    )


def _copy_licences(info: Path, target: Path) -> None:
    for path in sorted(info.rglob("*")):
        if path.is_file() and re.match(r"(?i)licen[cs]e|copying|metadata", path.name):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)


def _packages_of(path: Path) -> set[str]:
    """Return the Debian packages that contain a file."""
    done = subprocess.run(
        ["dpkg", "-S", str(path)], capture_output=True, text=True, check=False, timeout=LDD_S
    )
    return {part.strip() for part in done.stdout.partition(": ")[0].split(",") if part.strip()}


def _sources(packages: Iterable[str]) -> str:
    """Return a text that lists the source packages of all copied files."""
    form = "${source:Package} ${source:Version} (${Package})\n"
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", form, *sorted(packages)],
        capture_output=True, text=True, check=False, timeout=LDD_S,
    )  # fmt: skip
    return (
        "Source packages of Debian for the programs and libraries in this pack:\n\n"
        f"{''.join(sorted(done.stdout.splitlines(keepends=True)))}\n"
        "The kernels are Debian's linux-source package with the patches in\n"
        "project/kernel-patches; pack.json has the hash of each source, configuration and patch.\n"
    )
