# SPDX-License-Identifier: GPL-2.0-or-later
"""The real nginx with the shipped configuration, in front of a test's server."""

from __future__ import annotations

from tools.bench.proxy import NGINX, free_port, nginx

__all__ = ["NGINX", "free_port", "nginx"]
