# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs probe.py on a host, and boots a guest to check whether KVM works (`python -m`)."""

from __future__ import annotations

import sys

from duet.cli.kvm import kvm_works
from duet.plugins.cluster.probe import main

if __name__ == "__main__":
    works, why = kvm_works()
    sys.exit(main("" if works else why or "no guest boots under it"))
