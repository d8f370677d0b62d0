// SPDX-License-Identifier: GPL-2.0-or-later
/** A story that is scrolled: which step a reader has reached, and how much of the other steps he may read. Pure. */

import type { Scene } from '../protocol/lesson.ts';

/** How much of a step's text stands there while another step is on the stage. */
export type Readable =
  | 'all'
  /** What stands before its question. */
  | 'question'
  /** Its title: a question before it is still open, and its text might answer it. */
  | 'title';

/** `asking`: the steps whose question the viewer has not answered. */
export function readable(
  scenes: readonly Scene[],
  now: Scene,
  step: Scene,
  asking: readonly Scene[],
): Readable {
  if (asksBefore(scenes, now, step, asking) !== undefined) return 'title';
  return asking.includes(step) ? 'question' : 'all';
}

/** The first step with an open question between the one on the stage and this one. */
export function asksBefore(
  scenes: readonly Scene[],
  now: Scene,
  step: Scene,
  asking: readonly Scene[],
): Scene | undefined {
  const [from, to] = [scenes.indexOf(now), scenes.indexOf(step)];
  return asking.find((one) => {
    const at = scenes.indexOf(one);
    return at >= from && at < to;
  });
}

/** Where the text of a step begins in the window, px. */
export interface Standing {
  readonly id: string;
  readonly top: number;
}

/** The step whose text crosses a line of the window; between two texts, the one above. Null: none begins above it. */
export function reached(texts: readonly Standing[], line: number): string | null {
  return texts.findLast(({ top }) => top <= line)?.id ?? null;
}
