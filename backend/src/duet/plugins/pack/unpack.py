# SPDX-License-Identifier: GPL-2.0-or-later
"""Restore and check a pack on the measuring host. This file needs only Python's standard library.

    unpack.py FOLDER [ARGUMENTS]

The archive contains Python, this file and `payload.tar.xz`. This program unpacks the payload into
FOLDER, compresses the kernels again, and compares every file with pack.json. Then it starts
duet.plugins.pack.program with ARGUMENTS.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

PAYLOAD = "payload.tar.xz"
RECORD = "pack.json"
LOADER = "lib/ld-linux-x86-64.so.2"
PARTS = "bzImage.parts"
LZ4_S = 120
EXIT_INPUT = 2


class PackDamaged(Exception):
    """A file of the pack is missing or has changed."""


def loader_words(folder: Path, name: str, program: Path) -> list[str]:
    """Return the command line that starts an ELF program with the pack's own C library.

    Args:
        name: the path that the program gets as its argv[0].
    """
    loader = ["--library-path", str(folder / "lib"), "--argv0", name]
    return [str(folder / LOADER), *loader, str(program)]


def write_wrappers(folder: Path) -> None:
    """For each program in libexec, write a shell script bin/NAME with absolute paths."""
    (folder / "bin").mkdir(exist_ok=True)
    environment = {
        "python3": {"PYTHONHOME": folder / "python"},
        "qemu-system-x86_64": {"QEMU_MODULE_DIR": folder / "lib/qemu"},
    }
    more = {"qemu-system-x86_64": ["-L", str(folder / "share/qemu")]}
    for program in sorted((folder / "libexec").iterdir()):
        name = program.name
        path = folder / "bin" / name
        own = environment.get(name, {})
        setting = "".join(f"{key}={shlex.quote(str(value))} " for key, value in own.items())
        setting = f"export {setting.strip()}\n" if setting else ""
        words = shlex.join([*loader_words(folder, str(path), program), *more.get(name, [])])
        path.write_text(f'#!/bin/sh\n{setting}exec {words} "$@"\n')
        path.chmod(0o755)


def unpack(folder: Path) -> None:
    """Unpack the payload unless an earlier start has unpacked it, and write the wrapper scripts.

    The wrapper scripts are written at each start, because the folder may have been moved.
    """
    payload = folder / PAYLOAD
    if not payload.exists():
        write_wrappers(folder)
        return
    print("unpacking", file=sys.stderr, flush=True)
    with tarfile.open(payload, "r:xz") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    write_wrappers(folder)
    for parts in sorted((folder / "kernels").glob(f"*/{PARTS}")):
        join_kernel(folder, parts)
    payload.unlink()


def join_kernel(folder: Path, parts: Path) -> None:
    """Make a bzImage from its head, its body (which is compressed with lz4), and its tail."""
    level = (parts / "level").read_text().strip()
    target = parts.parent / "bzImage"
    with target.open("wb") as file, (parts / "body").open("rb") as body:
        file.write((parts / "head").read_bytes())
        file.flush()
        subprocess.run(
            [str(folder / "bin/lz4"), "-l", level, "-c"], stdin=body, stdout=file, check=True,
            stderr=subprocess.DEVNULL, timeout=LZ4_S,
        )  # fmt: skip
        file.seek(0, os.SEEK_END)
        file.write((parts / "tail").read_bytes())
    shutil.rmtree(parts)


def check(folder: Path) -> None:
    """Compare each file with its hash in pack.json.

    Raises:
        PackDamaged: a file is missing or has changed.
    """
    for name, wanted in json.loads((folder / RECORD).read_text())["files"].items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise PackDamaged(f"{name} cannot be read ({error.strerror})") from error
        if found != wanted:
            raise PackDamaged(f"{name} has changed")


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment in which the pack's programs run."""
    project = folder / "project"
    own = {
        "PATH": f"{folder / 'bin'}:{os.environ.get('PATH') or os.defpath}:/usr/sbin:/sbin",
        "PYTHONHOME": str(folder / "python"),
        "PYTHONPATH": f"{project / 'backend/src'}:{folder / 'site'}",
        "DUET_ROOT": str(project),
        "DUET_CACHE": str(folder / "cache"),
        "DUET_LESSONS": str(folder / "extra") if (folder / "extra").is_dir() else "",
        "HOME": os.environ.get("HOME") or str(folder),
    }
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    return {**passed, **own}


PASSED = ("DUET_ACCEL", "XDG_RUNTIME_DIR", "TMPDIR", "TERM", "LANG", "LC_ALL", "COLUMNS")
"""The host's environment variables that the pack's programs get. Other variables may refer to the
host's own QEMU, Python or libraries.
"""


BAD_PACK = (OSError, PackDamaged, subprocess.SubprocessError, tarfile.TarError, ValueError)
"""Exceptions that are raised if the archive is damaged or the folder is not writable."""


def main(words: list[str]) -> int:
    folder = Path(words[0]).resolve()
    try:
        unpack(folder)
        check(folder)
    except BAD_PACK as error:
        print(f"error: the pack cannot be used: {error}.", file=sys.stderr)
        print(
            "remedy: unpack the archive again, into a folder that you may write to.",
            file=sys.stderr,
        )
        return EXIT_INPUT
    python = str(folder / "bin/python3")
    program = [python, "-s", "-P", "-m", "duet.plugins.pack.program", str(folder), *words[1:]]
    os.execve(python, program, environment_of(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
