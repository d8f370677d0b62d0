# SPDX-License-Identifier: GPL-2.0-or-later
"""The synthetic stage and the small page live with the stream tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "stream"))
