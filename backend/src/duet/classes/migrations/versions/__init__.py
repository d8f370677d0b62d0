# SPDX-License-Identifier: GPL-2.0-or-later
"""One file a revision. A revision that was released is never changed."""
