# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and recordings without a server: requests, sources of lanes, replay, packing, measuring."""
