// SPDX-License-Identifier: GPL-2.0-or-later
/** Charts, tables and the patch of a step, as large as the slide lets them be. */

import { tableFor } from '../../derive/recording.ts';
import { CountsPanel } from '../../panels/counts-panel.tsx';
import { Latency, ViewPanels } from '../side-panel.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { Cards } from './cards.tsx';
import { MeasuredPart } from './measured-part.tsx';
import { PatchMessage, PatchPart } from './patch-part.tsx';
import type { Part } from './slides.ts';

/** Lines of a patch on a slide: beside its message, beside other parts, and alone, where they are larger. */
const [patchLines, patchLinesBeside, patchLinesAlone] = [25, 16, 18];
/** 13 px of the page, which are 20 at 1920x1080. */
const smallest = 1;
/** On paper letters may be smaller, so that nothing is left out. */
const smallestOnPaper = 0.75;

const [oneOrTwo, all] = [
  [1, 2],
  [1, 2, 3],
] as const;

interface Props {
  readonly page: LessonModel;
  readonly parts: readonly Part[];
  readonly paper: boolean;
}

export function EvidenceSlide({ page, parts, paper }: Props) {
  const cards = parts.flatMap((part) => cardsOf(page, part, parts));
  // Lines of code want half of the width.
  const patched = parts.some((part) => part.what === 'patch');
  const columns = patched ? oneOrTwo : all;
  return (
    <Cards
      key={`${page.scene.id} ${cards.length}`}
      columns={columns}
      least={paper ? smallestOnPaper : smallest}
      filler={parts.length > 1 && parts.at(-1)?.what === 'counts'}
    >
      {cards}
    </Cards>
  );
}

function cardsOf(page: LessonModel, part: Part, parts: readonly Part[]) {
  const { lesson, scene, index, theme, recorded, server, actions } = page;
  switch (part.what) {
    case 'patch': {
      const { arm, at, first } = part;
      const beside = parts.length > 1;
      const room = beside ? patchLinesBeside : first ? patchLines : patchLinesAlone;
      const lines = <PatchPart key={arm} page={page} arm={arm} at={at} room={room} />;
      // Why it was made is said where it is first shown.
      const said = first && !beside;
      return said ? [lines, <PatchMessage key="message" page={page} arm={arm} />] : [lines];
    }
    case 'panel':
      return [
        <ViewPanels
          key={part.name}
          {...{ lesson, scene, index, recorded, theme }}
          onKnob={actions.turnOne}
          only={part.name}
        />,
      ];
    case 'latency':
      return [<Latency key="latency" {...{ lesson, index, recorded, theme }} />];
    case 'measured': {
      const table = tableFor(server.measured, lesson, scene, actions.knobs);
      // Beside others a table without rows says nothing.
      if (parts.length > 1 && (table?.rows.length ?? 0) === 0) return [];
      return [<MeasuredPart key="measured" lesson={lesson} measured={table} />];
    }
    case 'counts':
      return [<CountsPanel key="counts" lesson={lesson} arms={page.arms} recorded={recorded} />];
  }
}
