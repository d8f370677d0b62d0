// SPDX-License-Identifier: GPL-2.0-or-later
/** Fonts before the first drawing: a canvas draws at once in whatever is there, and not again when its font comes. */

import { lightTheme } from '../base/theme.ts';

const patienceMs = 1000;

/** Resolves when the fonts of text and canvases are loaded, have failed to, or take too long. */
export async function fontsLoaded(
  fonts: Pick<FontFaceSet, 'load'> = document.fonts,
): Promise<void> {
  const wanted = [lightTheme.font, lightTheme.mono, '"Source Serif 4 Variable"'];
  const loads = Promise.allSettled(wanted.map((family) => fonts.load(`16px ${family}`)));
  const late = new Promise((done) => setTimeout(done, patienceMs));
  await Promise.race([loads, late]);
}
