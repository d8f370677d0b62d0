# SPDX-License-Identifier: GPL-2.0-or-later
"""The real nginx with the configuration that is shipped, before a server of a test."""

from __future__ import annotations

from tools.bench.proxy import NGINX, free_port, nginx

__all__ = ["NGINX", "free_port", "nginx"]
