# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry point of `python -m duet`, which does what `./duet` does."""

import contextlib
import sys

PLAYING = {"compare", "export", "inspect", "replay", "reproduce"}

if PLAYING & set(sys.argv[1:2]):
    from duet import confine as confined
    from duet.base.errors import InfraError

    # The process that forks children imports its modules while this process imports its own. If it
    # cannot start, the command of `duet` reports the error later.
    with contextlib.suppress(InfraError):
        confined.start()

from duet.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
