# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry point of `python -m duet`, which does what `./duet` does."""

import gc
import sys

LANE = ("unpack", "lane")
PAGES = ("unpack", "decoder")
PLAYING = {
    "compare": LANE,
    "export": (*LANE, "decoder"),
    "inspect": PAGES,
    "record-all": ("unpack",),
    "replay": LANE,
    "reproduce": LANE,
    "runs": ("unpack",),
}
"""Verbs that read or play recordings, and the services of the children in which they do so."""
GARBAGE = 20_000
"""New objects between two collections of garbage. A verb imports 100,000 objects that stay, which
the usual 700 would visit again and again: a tenth of the time of its start."""

gc.set_threshold(GARBAGE)

verb = next(iter(sys.argv[1:]), "")
if verb in PLAYING and "--help" not in sys.argv:
    from duet import confine as confined

    # A separate process forks children. It is copied from this process now, while this process
    # contains the imported modules and no data.
    confined.fork(PLAYING[verb])

from duet.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
