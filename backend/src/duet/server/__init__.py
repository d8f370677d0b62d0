# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that the server owns: live runs and their queue, recordings, the archive, kernel
builds."""
