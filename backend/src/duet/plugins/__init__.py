# SPDX-License-Identifier: GPL-2.0-or-later
"""Optional capabilities, a folder each. A folder that is deleted is a capability that is gone.

The core imports no plug-in: it asks `duet.base.plugins` who offers what. A plug-in may import the
core, and the plug-ins that its `REQUIRES` names.
"""
