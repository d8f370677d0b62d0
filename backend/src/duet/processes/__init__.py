# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that end with their owner, and their private directories."""
