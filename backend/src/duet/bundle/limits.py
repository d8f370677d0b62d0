# SPDX-License-Identifier: GPL-2.0-or-later
"""Bounds of a bundle, checked before anything is unpacked."""

from __future__ import annotations

FILE_BYTES = 256 << 20
"""The zip itself."""
MANIFEST_BYTES = 1 << 20
STREAM_BYTES = 512 << 20
"""One lane, unpacked."""
PATCH_BYTES = 1 << 20
TOTAL_BYTES = 1 << 30
"""All members, unpacked."""
RATIO = 1000
"""Unpacked over packed, of a member above RATIO_FROM; real lanes reach a tenth of that."""
RATIO_FROM = 16 << 20
MEMBERS = 64
RECORD_BYTES = 8 << 20
STREAMS = 64
"""CPU numbers below this."""
