# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial: two kernels and a command, without a lesson.

From patches or source trees, a command, and events, a trial generates a lesson folder (`write.py`),
which every verb and the page can open. `mails` reads patches, `trees` source trees, and
`duet.kernels.changed` finds the functions that a patch changes. `tracing` chooses events and
functions to trace, `command` parses what the guest runs.
"""
