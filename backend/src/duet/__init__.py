# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel Duet: two kernels, one workload, one screen."""

__version__ = "0.1.0"
