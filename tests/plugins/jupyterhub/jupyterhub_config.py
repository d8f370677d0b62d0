# SPDX-License-Identifier: GPL-2.0-or-later
# The shipped configuration in a hub of a test: any name with any password, in memory.
import os

c = get_config()  # noqa: F821 - JupyterHub defines it
load_subconfig(os.environ["HUB_SHIPPED"])  # noqa: F821 - traitlets defines it
c.JupyterHub.bind_url = os.environ["HUB_PUBLIC"]
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"])
c.JupyterHub.db_url = "sqlite:///:memory:"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {"root-of-hub"}
c.ConfigurableHTTPProxy.command = os.environ["HUB_PROXY"].split()
c.ConfigurableHTTPProxy.api_url = os.environ["HUB_PROXY_API"]
