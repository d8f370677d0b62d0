# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet` is `./duet`."""

import contextlib
import sys

PLAYING = {"compare", "export", "inspect", "replay", "reproduce"}

if PLAYING & set(sys.argv[1:2]):
    from duet import confine as confined
    from duet.base.errors import InfraError

    with contextlib.suppress(InfraError):  # the verb reports the error itself
        confined.start()  # its imports run on another CPU during the imports below

from duet.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
