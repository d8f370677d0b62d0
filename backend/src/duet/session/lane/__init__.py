# SPDX-License-Identifier: GPL-2.0-or-later
"""One arm of a run: its guest, the states it goes through, its lenses, its result.

`state` decides and does no I/O; `driver` carries out what it asks for.
"""
