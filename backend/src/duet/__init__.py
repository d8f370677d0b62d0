# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel Duet, which shows kernels side by side that run the same workload."""

__version__ = "0.1.0"
