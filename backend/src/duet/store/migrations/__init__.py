# SPDX-License-Identifier: GPL-2.0-or-later
"""What Alembic runs; the revisions are in the plug-ins."""
