// SPDX-License-Identifier: GPL-2.0-or-later
/** A step of a lesson as its recording draws it: the colours that are filled, and its legend. */

import type { Theme } from '../../src/base/theme.ts';
import { kindsIn } from '../../src/derive/query.ts';
import { legendKinds } from '../../src/panels/legend.tsx';
import type { Scene } from '../../src/protocol/lesson.ts';
import type { Artist, Laid } from '../../src/views/contract.ts';
import { namedTiles } from '../../src/views/paints.ts';
import { viewOf } from '../../src/views/registry.ts';
import { recordingPen } from '../fixtures/pen.ts';
import { type RecordedLesson, shownScene } from '../fixtures/recordings.ts';

const size = { width: 1000, height: 700, dpr: 1 };

export function drawnStep(one: RecordedLesson, scene: Scene, theme: Theme) {
  const { lesson, index, frameAt } = shownScene(one, scene);
  const { show } = scene;
  const artist: Artist<Laid> = viewOf(lesson.view).artist(lesson, show);
  const fills = new Set<string>();
  for (const share of [0.3, 0.7, 1]) {
    const drawing = { index, frame: frameAt(share), size, lesson, theme, show };
    const { pen, log } = recordingPen();
    artist.draw(pen, artist.layout(drawing, 34, 13), drawing, null, namedTiles);
    for (const { what, fill } of log) if (/^fill(Rect)?$/.test(what)) fills.add(fill);
  }
  const there = kindsIn(index);
  const legend = viewOf(lesson.view).legend?.(lesson, scene, there) ?? legendKinds(lesson, scene);
  return { fills, legend, there, lesson };
}
