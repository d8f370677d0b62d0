# SPDX-License-Identifier: GPL-2.0-or-later
"""The environment for Alembic's migrations. The revisions are in the plug-ins."""
