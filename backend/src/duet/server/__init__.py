# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server owns: live runs and their queue, recordings, the archive, kernel builds."""
