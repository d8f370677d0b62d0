# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit codes of the calls that judge a kernel, as `git bisect run` takes them.

0 is good, 125 cannot be said, above 127 stops the bisection, all others are bad. So no trouble may
end with one of these others. Source: git-bisect(1), "Bisect run".
"""

from __future__ import annotations

from collections.abc import Sequence

from duet.base.errors import DuetError, InfraError, KernelError

GOOD, BAD, UNKNOWN, STOP = 0, 1, 125, 255
ALWAYS = "check"
IF_ASKED = ("try", "--worse-than")


def judges(words: Sequence[str]) -> bool:
    """Whether a command line asks for a judgement: `check`, or `try` with --worse-than."""
    verb, option = IF_ASKED
    asked = any(word == option or word.startswith(f"{option}=") for word in words)
    return words[:1] == [ALWAYS] or (words[:1] == [verb] and asked)


def code_of(error: DuetError) -> int:
    """What an error is for a bisection.

    A kernel that does not build or boot, and trouble of the host, are no judgement of this commit;
    what the next commit would meet as well (a call that is not usable) ends the search.
    """
    from duet.kernels.compiler import CompileFails, OptionLost
    from duet.kernels.diffs import PatchFails
    from duet.kernels.image import SameKernel
    from duet.trials.trees import NotComparable

    of_one_commit = (PatchFails, CompileFails, OptionLost, NotComparable, SameKernel)
    if isinstance(error, (KernelError, InfraError)):
        return UNKNOWN
    return UNKNOWN if isinstance(error, of_one_commit) else STOP
