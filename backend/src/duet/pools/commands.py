# SPDX-License-Identifier: GPL-2.0-or-later
"""Short commands of an engine: run, bounded in time, and ended with whoever asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

NO_ANSWER = 124
"""Exit code of a command that did not end in time, as of timeout(1)."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def why(self) -> str:
        """The last line of its complaint, without the program's name and a stop."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        if not lines:
            return f"exit code {self.code}"
        return lines[-1].removeprefix("error: ").rstrip(".")[:300]


async def command(words: Sequence[str], within_s: float, stdin: bytes = b"") -> Done:
    """Run it; what fails is a code and a sentence, no exception."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"LC_ALL": "C"},
        )
    except OSError as error:
        return Done(127, "", f"{words[0]} cannot be started: {error}")
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate(stdin)
    except TimeoutError:
        return Done(NO_ANSWER, "", f"{words[0]} did not answer within {within_s:g} s")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
