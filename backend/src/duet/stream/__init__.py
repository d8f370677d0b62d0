# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 7. Send the messages of runs to browsers. Slow browsers get reported gaps.

`hub.py` encodes each message once and sends it to all viewers of its run. `outbox.py` is the
bounded queue of one viewer, and `viewer.py` is the socket of one page. If a run has many viewers,
most of them fetch segments over HTTP instead (`segments.py`); `cutting.py` decides which.
"""
