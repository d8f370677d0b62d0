# SPDX-License-Identifier: GPL-2.0-or-later
"""Remote procedure calls between processes: numbered frames over a socket, calls and answers."""
