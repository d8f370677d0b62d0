# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry point of `python -m duet`, which does what `./duet` does."""

import contextlib
import sys

PLAYING = {"compare", "export", "inspect", "replay", "reproduce"}

if PLAYING & set(sys.argv[1:2]):
    from duet import confine as confined
    from duet.base.errors import InfraError

    # A separate process forks children. The call below starts that process, so that both processes
    # import their modules at the same time. If the process cannot start, the command of `duet`
    # reports the error later.
    with contextlib.suppress(InfraError):
        confined.start()

from duet.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
