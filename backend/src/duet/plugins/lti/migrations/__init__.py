# SPDX-License-Identifier: GPL-2.0-or-later
"""Migrations of this plug-in's tables."""
