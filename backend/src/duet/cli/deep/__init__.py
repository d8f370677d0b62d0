# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet doctor --deep`: a guest, a copy of it, a build in a box, the host's speed: tried."""
