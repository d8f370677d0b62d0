# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports all probes from their files before the process that runs them confines itself.

An error in a file is stored, and raised when its probe is requested. So one lesson's broken probe
does not disturb other lessons.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from itertools import count
from pathlib import Path
from types import ModuleType

from duet.base.errors import DuetError
from duet.lenses.kernel import Kernel, LensError
from duet.lenses.memory import Gone, Memory
from duet.lenses.registry import Probe, no_probe, probe_files
from duet.lessons.load import places

_numbers = count()


class Probes:
    """All probes of all lessons. They are imported immediately, so no file is read later."""

    def __init__(self) -> None:
        self._files = {slug: probe_files(slug) for slug in ("", *places())}
        paths = {path for files in self._files.values() for path in files.values()}
        self._loaded = {path: load_probe(path) for path in sorted(paths)}

    def make(self, name: str, lesson: str, kernel: Kernel, memory: Memory, of: str) -> Probe:
        """Create a probe, which resolves its types and addresses in a kernel.

        Raises:
            InputError: there is no such probe, or `of` is invalid.
            LensError: the probe's file is unusable, or the kernel lacks a type, field or variable.
            Gone: the guest cannot be read.
        """
        files = self._files.get(lesson, self._files[""])
        if name not in files:
            raise no_probe(name, tuple(sorted(files)))
        loaded = self._loaded[files[name]]
        if isinstance(loaded, LensError):
            raise loaded
        try:
            return loaded(kernel, memory, of)
        except (DuetError, Gone):
            raise
        except Exception as error:
            raise fault_of(name, error) from error


def load_probe(path: Path) -> type[Probe] | LensError:
    """Return the probe class in a file, or the error in the file."""
    name = path.stem.replace("_", "-")
    try:
        with _siblings(path.parent):
            found = getattr(_import(path), "Probe", None)
    except Exception as error:
        return fault_of(name, error, path)
    if isinstance(found, type):
        return found
    return LensError(
        f"the x-ray probe {name} has no class Probe ({_shown(path)}).",
        remedy="Write the class as docs/PROBES.md explains.",
    )


def fault_of(name: str, error: Exception, path: Path | None = None) -> LensError:
    """Describe an exception in a probe, with the probe's last line in the traceback."""
    line = None
    if isinstance(error, SyntaxError) and error.filename:
        path, line = Path(error.filename), error.lineno
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).parent.name == "probes":
            path, line = Path(frame.filename), frame.lineno
    where = f" ({_shown(path)}{f', line {line}' if line else ''})" if path else ""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return LensError(
        f"the x-ray probe {name} raised {type(error).__name__}: {said:.200}{where}.",
        remedy="Correct the probe, then start the run again.",
    )


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"duet_probe_{next(_numbers)}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module in sys.modules
    spec.loader.exec_module(module)
    return module


@contextmanager
def _siblings(folder: Path) -> Iterator[None]:
    """Let probes import their own folder's helpers by name, as scripts do."""
    known = set(sys.modules)
    finder = _Finder(folder)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - known:
            if finder.has(name):
                del sys.modules[name]


class _Finder:
    """Finds the modules of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, name: str) -> bool:
        """Return whether the folder has a file of that name."""
        return (self._folder / f"{name}.py").is_file()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or not self.has(name):
            return None
        return importlib.util.spec_from_file_location(name, self._folder / f"{name}.py")


def _shown(path: Path) -> str:
    """Return the path as lessons/NN-slug/probes/file.py, wherever the lesson is."""
    return "/".join(path.parts[-4:])
