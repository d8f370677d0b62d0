# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a vmlinux in a confined child, because a visitor's change controls every byte of it.

    lenses/scope --> ask.py --(confined)--> service.py --> structures.py, symbols.py

`ask` runs in the server; all others run only in the child and may crash there.
"""

from typing import Final

REMEDY: Final = "Build the kernel again with ./duet build."
