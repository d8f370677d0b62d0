# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a vmlinux in a confined child, because a visitor's change can control its bytes.

    lenses/scope --> ask.py --(confined)--> service.py --> structures.py, symbols.py

`ask` runs in the server. All other modules run only in the child, where a crash is harmless.
"""

from typing import Final

REMEDY: Final = "Build the kernel again with ./duet build."
