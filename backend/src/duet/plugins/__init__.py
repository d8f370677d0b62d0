# SPDX-License-Identifier: GPL-2.0-or-later
"""Optional capabilities. Each is in its own folder, and deleting the folder removes the capability.

The core imports no plug-in, but finds plug-ins through `duet.base.plugins`. A plug-in may import
the core and the plug-ins that its `REQUIRES` names.
"""
