# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes for any lesson, one file each. A probe is named after its file, with dashes."""
