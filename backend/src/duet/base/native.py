# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile this project's C files into libraries and programs, at set-up or on first use.

The path of a library in the cache contains a hash of its sources and flags, so a changed source is
compiled again.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import InfraError
from duet.base.settings import cache_dir

FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")
PROGRAM_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-static")
"""Static, so that a pack can carry a program to a host with another C library."""
NO_ROOM = "Make room on its disk and in the folder for temporary files, or set DUET_CACHE."
COMPILE_TIMEOUT_S = 120
REMEDY = "Install gcc, pkg-config and libtraceevent-dev (apt-get install), then try again."


def library_path(source: Path, rest: Sequence[Path] = (), flags: Sequence[str] = ()) -> Path:
    """Return the path of the library in the cache. The library may not have been compiled yet."""
    what = source.read_bytes() + " ".join((*FLAGS, *flags, platform.machine())).encode()
    for file in sorted(rest):
        what += b"\0" + file.name.encode() + b"\0" + file.read_bytes()
    name = f"{source.stem.lstrip('_')}.so"
    return cache_dir() / "native" / hashlib.sha256(what).hexdigest()[:16] / name


def program(source: Path) -> Path:
    """Return the path of a C file's program, and compile it if necessary.

    Raises:
        InfraError: the compiler is missing or fails.
    """
    what = source.read_bytes() + " ".join((*PROGRAM_FLAGS, platform.machine())).encode()
    target = cache_dir() / "native" / hashlib.sha256(what).hexdigest()[:16] / source.stem
    if not target.exists():
        _need(("cc",), source)
        _make(target, ["cc", *PROGRAM_FLAGS, str(source)])
    return target


def compiled(
    source: Path,
    package: str | None = None,
    *,
    rest: Sequence[Path] = (),
    flags: Sequence[str] = (),
) -> Path:
    """Return the path of a C file's library, and compile it if necessary.

    Several processes may call this at the same time.

    Args:
        source: the C file that the library is named after.
        package: pkg-config package to compile and link with.
        rest: other C files and headers of the library, which are also hashed.
        flags: additional compiler flags.

    Raises:
        InfraError: compiler or package is missing, or the compiler fails.
    """
    target = library_path(source, rest, flags)
    if target.exists():
        return target
    _need(("cc", "pkg-config") if package else ("cc",), source)
    cflags = _pkg_config("--cflags", package) if package else []
    libs = _pkg_config("--libs", package) if package else []
    sources = [str(file) for file in (source, *rest) if file.suffix == ".c"]
    _make(target, ["cc", *FLAGS, *flags, *cflags, *sources, *libs])
    return target


def load_library(path: Path, signatures: Mapping[str, tuple[object, list[object]]]) -> ctypes.CDLL:
    """Load a library with ctypes and set the types of its functions.

    Args:
        signatures: function name -> (result type, argument types).
    """
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def _need(tools: Sequence[str], source: Path) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            raise InfraError(
                f"'{tool}' is missing; it is needed to compile {source.name}.", remedy=REMEDY
            )


def _make(target: Path, command: list[str]) -> None:
    """Run the compiler, and publish its output atomically."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch) / target.name
            _call([*command, "-o", str(made)])
            durable.sync_file(made)
            made.replace(target)
            durable.sync_folder(target.parent)
    except OSError as error:
        raise InfraError(
            f"{target.name} could not be stored in {cache_dir()}: {error.strerror or error}.",
            remedy=NO_ROOM,
        ) from error


def _pkg_config(what: str, package: str) -> list[str]:
    return shlex.split(_call(["pkg-config", what, package]))


def _call(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=COMPILE_TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(f"'{command[0]}' could not be run: {error}.", remedy=REMEDY) from error
    if done.returncode:
        raise InfraError(
            f"a C library could not be built: '{command[0]}' ended with exit code "
            f"{done.returncode}.",
            remedy=NO_ROOM if os.strerror(errno.ENOSPC) in done.stderr else REMEDY,
            detail=done.stderr[-8192:],
        )
    return done.stdout
