# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that gets a CPU before all that it has started.

Linux shares CPUs among sessions first (autogroups, sched(7)), so a niceness counts among the
threads of one session only, and guests have sessions or control groups of their own. So the
server's session is raised, for kernels with autogroups, and its threads, for the others. One
thread alone would not do: another that holds the interpreter keeps it waiting as well.

Children start as ordinary processes: SCHED_RESET_ON_FORK takes the priority of a thread away from
what it starts, and they leave the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from duet.budgets import LOCK_SWITCH_S

SERVER_NICE: Final = -10
"""A thread that wakes has a CPU within some ms of busy guests and helpers. At 0 the event loop
waited for up to 400 ms on two CPUs, with 5 ms of work to do, while a class started its runs."""
SESSION: Final = Path("/proc/self/autogroup")

LOG = logging.getLogger("duet.loop")


@contextlib.contextmanager
def session_first() -> Iterator[str]:
    """Raise the priority of this process's session while the block runs.

    Yields:
        Why the host refuses, as a sentence without its stop, or nothing.
    """
    try:
        found = re.search(r"nice (-?\d+)", SESSION.read_text())
        former = int(found[1]) if found else 0
        if former > SERVER_NICE:  # else another server of this session has done it
            SESSION.write_text(str(SERVER_NICE))
    except FileNotFoundError:  # sessions share no CPUs here
        yield ""
    except OSError as error:
        refused = f"the server's session gets no priority over guests ({error.strerror})"
        LOG.info("%s", refused)
        yield refused
    else:
        try:
            yield ""
        finally:
            if former > SERVER_NICE:
                with contextlib.suppress(OSError):
                    SESSION.write_text(str(former))


def thread_first() -> str:
    """Raise the priority of the calling thread.

    Returns:
        Why the host refuses, as a sentence without its stop, or nothing.
    """
    thread = threading.get_native_id()
    try:
        os.sched_setscheduler(thread, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, thread, SERVER_NICE)
    except OSError as error:
        return f"the server's threads get no priority over guests ({error.strerror})"
    return ""


def loop_first() -> str:
    """Raise the priority of the event loop's thread, which is the calling one, and of those of
    asyncio.to_thread.

    Before Python 3.12 asyncio has a thread wait for each process as well; a descriptor does it.

    Returns:
        See thread_first.
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(
        ThreadPoolExecutor(thread_name_prefix="work", initializer=thread_first)
    )
    if sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(loop)
        asyncio.set_child_watcher(watcher)
    if refused := thread_first():
        LOG.info("%s", refused)
    return refused


def be_prompt() -> None:
    """Let the event loop have the interpreter soon, and collect no garbage where there is none.

    Each system call of the loop gives the interpreter away; while threads decode, it would wait
    5 ms for it each time. What was imported stays for ever, and takes 60 ms to look through.
    """
    sys.setswitchinterval(LOCK_SWITCH_S)
    gc.collect()
    gc.freeze()
