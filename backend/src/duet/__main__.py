# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet` is `./duet`."""

import sys

from duet.cli import main

if __name__ == "__main__":
    sys.exit(main())
