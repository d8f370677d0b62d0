# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel Duet as a service of JupyterHub, for all its users: /services/duet/ (docs/PROXIES.md).
#   ./duet serve --public-url https://hub.example.org/services/duet/ --token-required
# The hub's proxy passes the sub-path on, and does not ask who comes: links with tokens do.
c = get_config()  # noqa: F821 - JupyterHub defines it
c.JupyterHub.services = [
    {"name": "duet", "url": "http://127.0.0.1:8642", "display": True},
]
