# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for developers of Kernel Duet. Kernel Duet itself needs none of these programs."""
