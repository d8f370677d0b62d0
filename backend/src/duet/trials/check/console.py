# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse a stress run's console: the kernel's complaints, failures, and finished work. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Parse KUnit results on a guest's console. Pure.
#
# The format is KTAP (Documentation/dev-tools/ktap.rst). A suite begins with `# Subtest: NAME`, and
# each level is indented by four blanks. A line `ok N NAME` or `not ok N NAME` ends a test. If this
# line is indented one level less, it ends the test's suite. The kernel's own parser
# (tools/testing/kunit/kunit_parser.py) is not used, because it belongs to the tree under test.
# Parsers of plain TAP do not know levels.

PREFIX = re.compile(r"^\[ *\d+\.\d+\] ?")
BEGIN = re.compile(r"^( *)# Subtest: (\S+)")
RESULT = re.compile(r"^( *)(not ok|ok) \d+ (?:- )?(.*?)(?:(?<! ) +# (SKIP|TODO).*)?$")
REASON = re.compile(r"^ *# (\S+): ((?:EXPECTATION|ASSERTION) FAILED at \S+|test case timed out)")
LEVEL = 4


@dataclass(slots=True)
class Suite:
    """Results of one suite.

    Args:
        failed: names of failed tests, with ': PARAMETER' and ' - REASON' where known.
        ended: whether the suite's own result was printed.
    """

    name: str
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    ended: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing failed and the suite finished."""
        return self.ended and not self.failed


def read(console: str) -> list[Suite]:
    """Return the suites whose results a console shows, in the order in which they began.

    A test with parameters counts as one test, with the result of the whole test. Its failed
    parameters are named.
    """
    found: list[Suite] = []
    reason: dict[str, str] = {}
    broken: list[str] = []
    for raw in console.replace("\r", "").splitlines():
        line, known = PREFIX.subn("", raw)
        if not known:
            continue  # printed by a program
        if (match := BEGIN.match(line)) and len(match[1]) == LEVEL:
            found.append(Suite(match[2]))
            reason, broken = {}, []
        elif match := REASON.match(line):
            reason.setdefault(match[1], match[2])
        elif (match := RESULT.match(line)) and found and not found[-1].ended:
            _take(found[-1], match, reason, broken)
    return found


def failures(suites: list[Suite]) -> list[str]:
    """Return a line for each failed test, and for each suite that did not finish."""
    lines = [f"kunit: {one.name}.{test}" for one in suites for test in one.failed]
    return lines + [f"kunit: {one.name} did not finish" for one in suites if not one.ended]


def tells_failure(line: str) -> bool:
    """Whether a console line begins the output of a failing test."""
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


# Kernel messages that report a bug. Only printk lines are matched, not output of programs.
COMPLAINT = re.compile(
    r"WARNING|\bBUG\b|KASAN:|lockdep|possible .{,99}(?:lock|dependency|recursi)|suspicious RCU|Oops"
    r"|INFO: (?:task|rcu|trying)|DEADLOCK|ODEBUG|Corruption|general protection|Kernel panic"
    r"|refcount_t|Out of memory|oom-kill|Assertion failed|UBSAN|KCSAN"
)
HARMLESS = re.compile(
    r"MAX_LOCKDEP|RCU lockdep checking is enabled|lockdep size|CONFIG_KCSAN_STRICT"
)
# A line of a call trace is not a complaint, even if a function's name looks like a complaint.
FRAME = re.compile(r"^\[ *\d+\.\d+\] +(?:\? )?[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+$")
PRINTK = re.compile(r"^\[ *\d+\.\d+\] ?")
FAILED = "stress: failed"
# Errors of a trial's command (command.c), and of a shell or wrapper that cannot start the command.
NEVER_RAN = re.compile(
    r"run-[\w-]+: the command ended with status 12[67]$"
    r"|(?:/bin/)?(?:ba|da)?sh: .*(?:not found|[Pp]ermission denied|can't (?:open|cd to) .*)$"
    r"|[\w-]+: (?:can't execute|failed to (?:run command|execute)) .*: [A-Z][\w ]+$"
)
OF_COMMAND = re.compile(rf"{FAILED} \(\d+\): (?:timeout \d+ )?run-")
ENDED = re.compile(r"stress: end rounds=(\d{1,9})$")
CONTEXT = 40
"""Number of lines that a report shows of a complaint. A lockdep splat has 30 to 60 lines."""
BESIDE: Mapping[str, str] = {"rounds beside": r"^stress: beside=(\d+)"}


@dataclass(frozen=True)
class Verdict:
    """What one guest's console shows.

    Args:
        complaints: the kernel's complaints, one line each.
        failures: failures of programs and KUnit tests.
        rounds: number of finished rounds; None if the guest did not finish.
        work: maps the name of a count to the sum that `judge` computed. Sums of 0 are omitted.
        suites: KUnit suites, which run at boot.
        never_ran: the shell's error if it could not start the command, otherwise "". If there is
            such an error, the command's exit status does not count as a failure.
    """

    complaints: tuple[str, ...]
    failures: tuple[str, ...]
    rounds: int | None
    work: dict[str, int]
    suites: tuple[Suite, ...] = ()
    never_ran: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was found and at least one round was finished."""
        found = self.complaints or self.failures or self.never_ran
        return not found and bool(self.rounds)


def judge(console: str, work: Mapping[str, str] = BESIDE) -> Verdict:
    """Parse everything that a guest printed to its console.

    Args:
        work: maps a count's name to the regex of the lines that contain its numbers. The numbers
            are added up.
    """
    lines = lines_of(console)
    suites = read(console)
    never = [line for line in lines if NEVER_RAN.match(line)]
    failed = [line for line in lines if line.startswith(FAILED)]
    failed = [line for line in failed if not (never and OF_COMMAND.match(line))]
    ended = next((found for line in lines if (found := ENDED.match(line))), None)
    return Verdict(
        tuple(line for line in lines if complains(line)),
        (*failed, *failures(suites)),
        int(ended[1]) if ended else None,
        {what: n for what, pattern in work.items() if (n := _sum(pattern, lines))},
        tuple(suites),
        never[0] if never else "",
    )


def complains(line: str) -> bool:
    """Whether the kernel reports a bug in this line."""
    if not PRINTK.match(line) or FRAME.match(line.rstrip()):
        return False
    return COMPLAINT.search(line) is not None and HARMLESS.search(line) is None


def first_complaint(console: str, counts: Callable[[str], bool] = complains) -> str:
    """Return the first complaint and the lines after it, or else the last lines of the console.

    Args:
        counts: decides whether a kernel's line is a complaint. A failing KUnit test is always a
            complaint.
    """
    lines = lines_of(console)
    for number, line in enumerate(lines):
        if counts(line) or tells_failure(line):
            return "\n".join(lines[number : number + CONTEXT])
    return "\n".join(lines[-CONTEXT // 2 :])


def lines_of(console: str) -> list[str]:
    """Split a console into lines, without the serial line's carriage returns."""
    return console.replace("\r", "").splitlines()


def _sum(pattern: str, lines: list[str]) -> int:
    return sum(int(found[1]) for line in lines if (found := re.search(pattern, line)))
