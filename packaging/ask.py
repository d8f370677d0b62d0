# SPDX-License-Identifier: GPL-2.0-or-later
"""ask.py PORT COMMAND...: open the operator's link that COMMAND prints, and ask for page and health.

Needs nothing but Python, since it runs outside of the image.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from http.cookiejar import CookieJar
from urllib.request import HTTPCookieProcessor, build_opener

WITHIN_S = 120.0


def link(port: str, command: list[str]) -> str:
    """The operator's link, once it is printed."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = re.search(r"\(operator\)\s+\S+\?token=(\S+)", done.stdout + done.stderr)
        if found:
            return f"http://localhost:{port}/?token={found[1]}"
        time.sleep(0.5)
    raise SystemExit(f"error: no link within {WITHIN_S:.0f} s\nremedy: read: {' '.join(command)}")


def main() -> None:
    """See the module."""
    port, *command = sys.argv[1:]
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    page = browser.open(link(port, command), timeout=60).read().decode()
    assert '<div id="root">' in page, page[:300]
    (script,) = re.findall(r'src="\./(assets/index-[^"]+\.js)"', page)
    assert len(browser.open(f"http://localhost:{port}/{script}", timeout=60).read()) > 10_000
    tree = json.load(browser.open(f"http://localhost:{port}/api/health", timeout=60))
    assert tree["status"] == "ok" and len(tree["kernels"]) >= 5, tree
    print(f"page, script and /api/health of version {tree['version']} answer with the link's cookie")


if __name__ == "__main__":
    main()
