# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold of any file that is given as a recording: results, or one sentence that refuses.

Everything else is a finding: another exception, a sentence of several lines or with control
characters, output that a terminal would obey, too much time or memory, a program started, a file
written anywhere but in the folder that was named.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import DuetError
from duet.bundle import open_bundle, read_manifest
from duet.cli.inspect import inspect
from duet.cli.replay import replay
from duet.export import export

CPU_S = 30.0
"""Of one case; an unchanged one takes a tenth of a second to three."""
RSS_MB = 1800 if os.environ.get("DUET_FUZZ_SANITIZED") else 600
"""By which the process grows while it does one case. A sanitizer keeps memory that was freed."""
SENTENCE = 600
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod",
           "os.truncate", "shutil.rmtree", "shutil.move")  # fmt: skip
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect")


@dataclass(frozen=True, slots=True)
class Finding:
    """What should not have been.

    Args:
        key: equal for findings of one cause.
    """

    key: str
    detail: str


class Fence:
    """Hears what Python opens, writes and starts; an audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self.inside: str | None = None
        self.broken: list[str] = []
        sys.addaudithook(self._heard)

    def _heard(self, event: str, given: tuple[object, ...]) -> None:
        if self.inside is None:
            return
        if event == "open":
            path, _, flags = given
            if isinstance(flags, int) and flags & WRITES and isinstance(path, str | bytes):
                self._check(event, os.fsdecode(path))
        elif event in CHANGES:
            for path in given[: 2 if event in ("os.rename", "os.link", "shutil.move") else 1]:
                if isinstance(path, str | bytes | os.PathLike):
                    self._check(event, os.fsdecode(path))
        elif event in STARTS:
            self.broken.append(event)

    def _check(self, event: str, path: str) -> None:
        assert self.inside is not None
        if event == "open" and Path(path).is_dir():
            return  # O_TMPFILE: a file that never has a name, and goes with its last descriptor
        whole = os.path.normpath(Path.cwd() / path)
        if whole != os.devnull and not (whole + "/").startswith(self.inside + "/"):
            self.broken.append(f"{event} {whole}")


FENCE = Fence()
DEEDS: tuple[tuple[str, Callable[[Path, Path], object]], ...] = (
    ("list", lambda file, _: read_manifest(file)),
    ("open", lambda file, _: open_bundle(file)),
    ("inspect", lambda file, _: inspect(file, False)),
    ("inspect --json", lambda file, _: inspect(file, True)),
    ("trace.dat", lambda file, to: export(open_bundle(file), "trace.dat", to / "dat")),
    ("replay", lambda file, _: replay(file, False)),
    ("csv", lambda file, to: export(open_bundle(file), "csv", to / "csv")),
    ("perfetto", lambda file, to: export(open_bundle(file), "perfetto", to / "x.pftrace")),
)


def judge(file: Path, target: Path) -> tuple[list[Finding], str]:
    """Do everything with a file that can be done with it.

    Args:
        target: an empty folder, where exports go.

    Returns:
        Findings, and how far it came: the last deed that was done without a refusal.
    """
    found: list[Finding] = []
    came = "nothing"
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _peak_mb()
    begin = time.process_time()
    for name, deed in DEEDS:
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        FENCE.inside, FENCE.broken = str(target.resolve()), []
        try:
            with contextlib.redirect_stdout(printed):
                deed(file, target)
                printed.flush()
            came = name
        except DuetError as error:
            found += _sentence(name, error)
        except Exception as error:
            found.append(_crash(name, error))
        finally:
            FENCE.inside = None
        found += [Finding(f"{name}: {what.split()[0]}", what) for what in FENCE.broken]
        shown = printed.buffer.getvalue().decode() if not printed.closed else ""  # type: ignore[attr-defined]
        if bad := CONTROL.search(shown):
            found.append(Finding(f"{name}: control character", repr(shown[: bad.end()][-200:])))
        if name == "open" and came != "open":
            break
    spent = time.process_time() - begin
    if spent > CPU_S:
        found.append(Finding("slow", f"{spent:.1f} s"))
    grown = _peak_mb() - before
    if grown > RSS_MB:
        found.append(Finding("memory", f"{grown} MB more"))
    return found, came


def _peak_mb() -> int:
    return int(PEAK.search(Path("/proc/self/status").read_text())[1]) >> 10  # type: ignore[index]


def _sentence(name: str, error: DuetError) -> list[Finding]:
    """A refusal is one sentence and one remedy."""
    for text in (error.sentence, error.remedy):
        if not text or len(text) > SENTENCE or CONTROL.search(text) or "\n" in text:
            return [Finding(f"{name}: sentence {text[:40]!r}", repr(text[:2000]))]
    return []


def _crash(name: str, error: Exception) -> Finding:
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "/duet/" in f.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in ours[-2:]]
    key = f"{type(error).__name__} at {' '.join(places)}"
    return Finding(key, f"{name}: {''.join(traceback.format_exception(error))[-4000:]}")
