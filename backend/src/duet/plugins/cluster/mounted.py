# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.plugins.cluster.mounted FILE`: run the program that a mounted Secret describes.

The program is the first process of a container. So when the program ends, the container ends, and
all processes that the program started are killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from duet.base.frames import BadFrame
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.program import PLACES
from duet.plugins.cluster.runner import FOR_EVERYBODY, NO_PROGRAM


def main(words: list[str]) -> int:
    """Replace this process by the program. Return only if the program cannot be started."""
    try:
        start = Start.unpacked(Path(words[0]).read_bytes())
    except (OSError, BadFrame, IndexError) as error:
        print(f"error: no program can be read: {error}.", file=sys.stderr)
        return 2
    stdin = os.memfd_create("stdin")  # an anonymous file without a path
    with open(stdin, "wb", closefd=False) as file:
        file.write(start.stdin)
    os.lseek(stdin, 0, os.SEEK_SET)
    os.dup2(stdin, 0)
    os.close(stdin)
    try:
        os.execvpe(start.argv[0], list(start.argv), environment(os.environ, start.env))
    except OSError as error:
        print(f"{start.argv[0]} cannot be started: {error}", file=sys.stderr)
    return NO_PROGRAM


def environment(image: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the program's environment.

    The environment consists of the given variables, and of variables that our image sets, such as
    the cache folder.
    """
    own = {name: image[name] for name in FOR_EVERYBODY if name in image}
    passed = {name: value for name, value in given.items() if name not in PLACES}
    return own | passed | {name: value for name, value in image.items() if name[:5] == "DUET_"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
