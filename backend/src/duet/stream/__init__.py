# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 7: send the messages of runs to browsers. A slow browser gets reports of the gaps.

`hub.py` encodes each message once, and sends it to all viewers of its run. `outbox.py` is the
bounded queue of one viewer, and `viewer.py` is the socket of one page. If a run has many viewers,
most of the viewers fetch segments over HTTP (`segments.py`). `cutting.py` decides which viewers get
segments.
"""
