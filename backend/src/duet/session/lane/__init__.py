# SPDX-License-Identifier: GPL-2.0-or-later
"""One lane of a run: its guest, its states, its lenses, its result.

`state` decides without I/O; LaneDriver in `run` carries out its actions.
"""
