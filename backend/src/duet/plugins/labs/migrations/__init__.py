# SPDX-License-Identifier: GPL-2.0-or-later
"""Revisions of this plug-in's tables."""
