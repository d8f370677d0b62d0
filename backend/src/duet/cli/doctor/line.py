# SPDX-License-Identifier: GPL-2.0-or-later
"""One line of `duet doctor`: the name of a check, its result, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from duet.cli.keys import key
from duet.cli.output import emit

Status = Literal["ok", "warning", "missing"]
MARKS: Final[dict[Status, str]] = {"ok": "ok     ", "warning": "warning", "missing": "MISSING"}
DELEGATE: Final = "Let the server make control groups (systemd: Delegate=yes)."


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check. `missing` makes doctor fail, `warning` does not."""

    name: str
    status: Status = key(shape="ok|warning|missing")
    found: str = key()
    needed_for: str = key()
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    ok: bool = key("bool")
    checks: Sequence[Check] = key()


class Failure(Exception):
    """A check failed. `duet doctor` shows this as a warning.

    Args:
        found: the result, in words with figures and units.
        remedy: what to do about it.
    """

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(found)
        self.found, self.remedy = found, remedy


def show(checks: Iterable[Check], as_json: bool) -> int:
    """Print all checks; return 0, or 3 if something required is missing."""
    checks = list(checks)
    ok = all(check.status != "missing" for check in checks)
    if as_json:
        emit(DoctorResult(ok, checks))
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            print(f"{MARKS[check.status]}  {check.name:{width}}  {check.found}")
            if check.remedy:
                print(f"{'':{width + 11}}-> {check.remedy}")
        print("Everything required is present." if ok else "Something required is missing.")
    return 0 if ok else 3
