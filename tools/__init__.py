# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for developers of Kernel Duet. The product needs none of them."""
