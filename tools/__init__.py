# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for whoever works on Kernel Duet; the product needs none of them."""
