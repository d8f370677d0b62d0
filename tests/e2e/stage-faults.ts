// SPDX-License-Identifier: GPL-2.0-or-later
/** What is amiss with a stage, in words: one judgement for `make stage` and for the browser tests. */

import type { StageFacts } from './stage.ts';

/** No third of the stage is empty; text has the contrast that WCAG asks of small text. */
export const most = { empty: 1 / 3, contrast: 4.5 };

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A deck and a page that scrolls may be longer than the window; only one that does not may hide nothing. */
export function faults(facts: StageFacts): string[] {
  return [
    ...(facts.emptyDown >= most.empty ? [`${percent(facts.emptyDown)} of the height is empty`] : []),
    ...(facts.emptyAcross >= most.empty ? [`${percent(facts.emptyAcross)} of the width is empty`] : []),
    ...(facts.contrast < most.contrast ? [`faint ${facts.contrast.toFixed(1)}: “${facts.faintest}”`] : []),
    ...facts.cut.map((words) => `cut ${words}`),
    ...facts.overlaps,
    ...facts.below.map((lane) => `below the fold: ${lane}`),
  ];
}
