# SPDX-License-Identifier: GPL-2.0-or-later
"""Which commit of a range made a number worse.

`history` has git choose the commits, in a work tree of its own without files; `search` decides
what each of them is from a measurement that its caller gives; `memory` stores what was measured,
so that an interrupted search goes on; `report` writes the result.
"""
