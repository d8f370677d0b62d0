# SPDX-License-Identifier: GPL-2.0-or-later
"""Optional capabilities, each in its own folder. Deleting the folder removes the capability.

The core imports no plug-in: it finds them through `duet.base.plugins`. A plug-in may import the
core and the plug-ins that its `REQUIRES` names.
"""
