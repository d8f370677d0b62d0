# SPDX-License-Identifier: GPL-2.0-or-later
"""From messages of runs to browsers: each message is encoded once, and slowness becomes gaps.

`hub.py` gives a run's messages to all its viewers, `outbox.py` is the bounded queue of one viewer,
`viewer.py` the socket of one page. Many viewers of a run fetch `segments.py` over HTTP instead;
`cutting.py` decides who does.
"""
