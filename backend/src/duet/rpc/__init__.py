# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls between processes: numbered frames over a socket, and requests with their answers."""
