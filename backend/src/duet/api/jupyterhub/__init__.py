# SPDX-License-Identifier: GPL-2.0-or-later
"""As a service of JupyterHub: its users are the visitors. See door.py."""

from duet.api.jupyterhub.door import HubDoor
from duet.api.jupyterhub.service import HubService

__all__ = ["HubDoor", "HubService"]
