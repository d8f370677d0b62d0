# SPDX-License-Identifier: GPL-2.0-or-later
"""The threads of a server and its session come before what it has started, and nothing else does.

Each test has a process of its own: a priority stays with a thread.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from duet.processes.cpus import SERVER_NICE, SESSION

WAIT_S = 60.0
OWN = os.getpriority(os.PRIO_PROCESS, 0)
"""Of whoever runs the tests."""
LOOK = """
import asyncio, os, pathlib, sys
from duet.processes.cpus import SESSION, loop_first, session_first
own = lambda: os.getpriority(os.PRIO_PROCESS, 0)
def session():
    return int(SESSION.read_text().split()[-1]) if SESSION.exists() else None
async def main():
    print(own(), session())
    refused = loop_first()
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import os; print(os.getpriority(os.PRIO_PROCESS, 0))",
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await child.communicate()
    print(own(), await asyncio.to_thread(own), int(said), child.returncode, refused)
with session_first() as refused:
    print(session(), refused)
    with session_first():  # another server of the same session
        pass
    asyncio.run(main())
print(session())
"""


def looked(*before: str) -> list[str]:
    """What a process sees of itself that has a session of its own, after these words."""
    done = subprocess.run(
        [*before, sys.executable, "-c", LOOK],
        capture_output=True, text=True, timeout=WAIT_S, check=True, start_new_session=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise a priority")
def test_server_and_session_are_raised_and_children_are_not() -> None:
    raised, begun, threads, after = looked()
    shared = SESSION.exists()
    assert raised == (f"{SERVER_NICE} " if shared else "None ")
    assert begun == f"{OWN} {SERVER_NICE if shared else None}"
    assert threads == f"{SERVER_NICE} {SERVER_NICE} 0 0 "
    assert after == ("0" if shared else "None"), "a shell's session is as before"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a right to lose")
def test_a_host_that_refuses_is_named_and_nothing_changes() -> None:
    raised, begun, threads, after = looked("setpriv", "--bounding-set=-sys_nice", "--")
    if SESSION.exists():
        assert (
            raised
            == "0 the server's session gets no priority over guests (Operation not permitted)"
        )
    assert begun.startswith(f"{OWN} ")
    assert threads.startswith(
        f"{OWN} {OWN} {OWN} 0 the server's threads get no priority over guests ("
    )
    assert after in ("0", "None")
