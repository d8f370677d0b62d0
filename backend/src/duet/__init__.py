# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel Duet, which shows kernels side by side that run the same workload."""

import os

__version__ = "0.1.0"

# At import, numpy's OpenBLAS starts a thread for each CPU, which takes 0.1 s of CPU time on two
# CPUs. Nothing here uses linear algebra. A process with threads also cannot become a zygote.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
