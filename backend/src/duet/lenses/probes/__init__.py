# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes for any lesson, one file each; its name is the probe's, with dashes."""
