# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI 1.3 Advantage: users enter from a learning platform, which receives their scores.

login.py checks messages, and grades.py calls the platform's services. PyJWT signs and verifies.
Sources: https://www.imsglobal.org/spec/lti/v1p3 (LTI 1.3 core),
https://www.imsglobal.org/spec/security/v1p0 (IMS Security Framework 1.0),
https://www.imsglobal.org/spec/lti-dl/v2p0 (Deep Linking 2.0),
https://www.imsglobal.org/spec/lti-ags/v2p0 (AGS 2.0, assignments and grades) and
https://www.imsglobal.org/spec/lti-nrps/v2p0 (NRPS 2.0, names and roles)
"""

from __future__ import annotations

from duet.base.plugins import Registry

REQUIRES = ("labs",)


def register(core: Registry) -> None:
    core.offer(tables="tables", service="service", grants="service")
    core.verb("lti", "verb", "Show the LTI settings and keys for Moodle or Canvas.", "teach")
