# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel Duet as a service of JupyterHub, for all its users: /services/duet/ (docs/PROXIES.md).
# Both the hub and ./duet serve --hub have DUET_HUB_TOKEN, a secret of 32 or more characters.
import os

c = get_config()  # noqa: F821 - JupyterHub defines it
c.JupyterHub.services = [
    {
        "name": "duet",
        "url": os.environ.get("DUET_SERVICE_URL", "http://127.0.0.1:8642"),
        "api_token": os.environ["DUET_HUB_TOKEN"],
        "display": True,
        "oauth_no_confirm": True,
        # read:users!user: name, groups and admin of whoever logs in, and of nobody else.
        "oauth_client_allowed_scopes": ["access:services!service=duet", "read:users!user"],
    },
]
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", "access:services!service=duet"]},
]
# Members of this group are instructors; admins of the hub are operators, all others students.
c.JupyterHub.load_groups = {"instructors": {"users": ["ada"]}}
