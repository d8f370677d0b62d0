# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and recordings without a server: requests, lane sources, replay, packing, measuring."""
