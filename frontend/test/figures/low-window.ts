// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Low windows, for the tests of views: the height that a view asks for at least has room for all lanes, and many lanes
 * fit where they can.
 */

import { lightTheme } from '../../src/base/theme.ts';
import { viewOf } from '../../src/views/registry.ts';
import { type RecordedLesson, shownScene } from '../fixtures/recordings.ts';

/** What a stage of 1280 x 720 gives a picture, px. */
export const low = { width: 928, height: 395, dpr: 1 };

/** The least height of a step's picture, and its layout in a height. */
export function shownLow(one: RecordedLesson, step: string, header = 34) {
  const found = one.lesson.scenes.find(({ id }) => id === step)!;
  const { lesson, scene, index, frameAt } = shownScene(one, found);
  const { show } = scene;
  const artist = viewOf(lesson.view).artist(lesson, show);
  const drawing = (height: number) => {
    const size = { ...low, height };
    return { index, frame: frameAt(1), size, lesson, theme: lightTheme, show };
  };
  const least = artist.least?.(drawing(0), header, 13) ?? 0;
  return {
    least,
    layout: (height: number) => artist.layout(drawing(height), header, 13) as unknown,
  };
}
