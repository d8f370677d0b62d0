# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs and their queue, recordings, the archive of saved runs, and kernel builds."""
