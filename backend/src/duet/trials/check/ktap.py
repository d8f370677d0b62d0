# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of KUnit on a guest's console. Pure.

KTAP (Documentation/dev-tools/ktap.rst): a suite begins with `# Subtest: NAME`, a level is four
blanks, and `ok N NAME` or `not ok N NAME` ends a test or, one level above, its suite. The kernel's
own reader (tools/testing/kunit/kunit_parser.py) is a program of the tree that is under test, and
readers of plain TAP know no levels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PREFIX = re.compile(r"^\[ *\d+\.\d+\] ?")
BEGIN = re.compile(r"^( *)# Subtest: (\S+)")
RESULT = re.compile(r"^( *)(not ok|ok) \d+ (?:- )?(.*?)(?:(?<! ) +# (SKIP|TODO).*)?$")
REASON = re.compile(r"^ *# (\S+): ((?:EXPECTATION|ASSERTION) FAILED at \S+|test case timed out)")
LEVEL = 4


@dataclass(slots=True)
class Suite:
    """What one suite said.

    Args:
        failed: names of tests, the parameter behind a colon, the reason behind a dash.
        ended: whether its own result came.
    """

    name: str
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    ended: bool = False

    @property
    def clean(self) -> bool:
        """Nothing failed, and it came to its end."""
        return self.ended and not self.failed


def read(console: str) -> list[Suite]:
    """The suites of a console, in the order in which they began.

    A test with parameters counts once, by its own result; a failed parameter is named.
    """
    found: list[Suite] = []
    reason: dict[str, str] = {}
    broken: list[str] = []
    for raw in console.replace("\r", "").splitlines():
        line, known = PREFIX.subn("", raw)
        if not known:
            continue  # a program's
        if (match := BEGIN.match(line)) and len(match[1]) == LEVEL:
            found.append(Suite(match[2]))
            reason, broken = {}, []
        elif match := REASON.match(line):
            reason.setdefault(match[1], match[2])
        elif (match := RESULT.match(line)) and found and not found[-1].ended:
            _take(found[-1], match, reason, broken)
    return found


def failures(suites: list[Suite]) -> list[str]:
    """One sentence for each test that failed, and for each suite that did not end."""
    lines = [f"kunit: {one.name}.{test}" for one in suites for test in one.failed]
    return lines + [f"kunit: {one.name} did not end" for one in suites if not one.ended]


def tells_failure(line: str) -> bool:
    """Whether a line of the console begins what a failing test says."""
    text, known = PREFIX.subn("", line)
    match = RESULT.match(text)
    return bool(known) and (REASON.match(text) is not None or bool(match and match[2] != "ok"))


def _take(suite: Suite, match: re.Match[str], reason: dict[str, str], broken: list[str]) -> None:
    level, bad, name = len(match[1]) // LEVEL, match[2] == "not ok", match[3]
    if level == 0:
        suite.ended = True
        if bad and not suite.failed:
            suite.failed.append("the suite itself failed")
    elif level > 1:
        broken += [name] if bad else []
    elif bad:
        why = f" - {reason[name]}" if name in reason else ""
        suite.failed.append(f"{name}{''.join(f': {one}' for one in broken)}{why}")
        broken.clear()
    elif match[4] == "SKIP":
        suite.skipped += 1
    else:
        suite.passed += 1
