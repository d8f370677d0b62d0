# SPDX-License-Identifier: GPL-2.0-or-later
"""What a vmlinux says, read in a confined child: a visitor's change chose every byte of it.

    lenses/scope --> ask.py --(confined)--> service.py --> structures.py, symbols.py

`ask` is the server's side; all others run in the child alone and may crash there.
"""

from typing import Final

REMEDY: Final = "Build the kernel again with ./duet build."
