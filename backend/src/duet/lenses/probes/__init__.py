# SPDX-License-Identifier: GPL-2.0-or-later
"""One file per structure; its name is the probe's, with dashes."""
