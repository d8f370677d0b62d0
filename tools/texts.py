# SPDX-License-Identifier: GPL-2.0-or-later
"""Print a lesson's texts that a language lacks: python -m tools.texts 02-grace-periods de.

Each text is printed as strings.yaml wants it, with an empty `says`. Sections of the prose are
printed with their digests. Outdated translations count as lacking.
"""

from __future__ import annotations

import argparse
import json

from duet.lessons.load import load
from duet.lessons.translations import CONTENT, digest, texts_of, translated


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lesson")
    parser.add_argument("language")
    chosen = parser.parse_args()
    folder = load(chosen.lesson)
    known = {
        one.key: one.digest or one.english
        for one in translated(folder, chosen.language)
        if one.text
    }
    for key, text in texts_of(folder).items():
        if key.startswith(f"{CONTENT}."):
            made = digest(text.text)
            if known.get(key) != made:
                print(f"# {key}: <!-- en: {made} -->")
        elif known.get(key) != text.text:
            english = json.dumps(text.text, ensure_ascii=False)
            print(f'  {key}:\n    en: {english}\n    says: ""')


if __name__ == "__main__":
    main()
