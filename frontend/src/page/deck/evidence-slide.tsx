// SPDX-License-Identifier: GPL-2.0-or-later
/** Charts, tables and the patch of a step, as large as the slide lets them be. */

import { tableFor } from '../../derive/measured-table.ts';
import { CountsPanel } from '../../panels/counts-panel.tsx';
import { MeasuredPanel } from '../../panels/measured-panel.tsx';
import { Latency, ViewPanels } from '../side-panel.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { Fit } from './fit.tsx';
import { PatchMessage, PatchPart } from './patch-part.tsx';
import type { Part, Slide } from './slides.ts';

/** Lines of a patch on a slide: where patches stand there alone, and above other parts. */
const patchLines = 25;
const patchLinesAbove = 12;

const [two, three, twoOrThree] = [[2], [3], [2, 3]] as const;

export function EvidenceSlide({ page, slide }: { page: LessonModel; slide: Slide }) {
  const cards = slide.parts.flatMap((part) => cardsOf(page, part, slide.parts.length > 1));
  // Lines of code want half of the width.
  const patched = slide.parts.some((part) => part.what === 'patch');
  const columns = patched ? two : cards.length === 3 ? three : twoOrThree;
  return (
    <Fit key={`${page.scene.id} ${cards.length}`} columns={columns}>
      <div className="deck-cards">{cards}</div>
    </Fit>
  );
}

function cardsOf(page: LessonModel, part: Part, beside: boolean) {
  const { lesson, scene, index, theme, recorded, server, actions } = page;
  switch (part.what) {
    case 'patch': {
      const room = beside ? patchLinesAbove : patchLines;
      const patches = part.arms.map((arm) => (
        <PatchPart key={arm} page={page} arm={arm} room={room} />
      ));
      const alone = part.arms.length === 1 && !beside;
      return alone
        ? [...patches, <PatchMessage key="message" page={page} arm={part.arms[0]!} />]
        : patches;
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
    case 'measured':
      return [
        <MeasuredPanel
          key="measured"
          lesson={lesson}
          measured={tableFor(server.measured, lesson, scene, actions.knobs)}
          blocked={actions.blocked}
          onMeasure={actions.measure}
        />,
      ];
    case 'counts':
      return [<CountsPanel key="counts" lesson={lesson} arms={page.arms} recorded={recorded} />];
  }
}
