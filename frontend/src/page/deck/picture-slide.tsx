// SPDX-License-Identifier: GPL-2.0-or-later
/** What the step claims, and the picture that shows it, with every lane of the step; under it what its events say. */

import { useLayoutEffect, useRef } from 'react';
import { Legend } from '../../panels/legend.tsx';
import { LaneErrors, Notices } from '../../panels/notices.tsx';
import { Terms } from '../../panels/terms/terms.tsx';
import { evidenceWords } from '../../ui/words.ts';
import { failedArms } from '../arm-states.ts';
import { LessonStage } from '../lesson-stage.tsx';
import { LessonToy, toyOpen } from '../lesson-toy.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { claimOf } from './claim.ts';

/** Pictures that need less than the stage has are shown so much larger, at most. */
const largest = 2;
/** Headers over several lanes are low, over many as low as their letters; those have no pale kinds in the legend. */
const [usualHeader, lowHeader, lowestHeader] = [34, 26, 21];
const many = 4;

function headerOf(lanes: number): number {
  return lanes >= many ? lowestHeader : lanes > 1 ? lowHeader : usualHeader;
}

export function zoomOf(has: number, needs: number): number {
  return needs > 0 && has > 0 ? Math.max(1, Math.min(largest, has / needs)) : 1;
}

function ZoomedStage({ page }: { readonly page: LessonModel }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const outer = box.current;
    if (outer === null) return undefined;
    const zoom = () => {
      const lanes = outer.querySelector<HTMLElement>('.lanes');
      const needs = Number.parseFloat(lanes?.style.getPropertyValue('--lanes-height') ?? '');
      const whole = outer.querySelector('.undrawn') === null;
      outer.style.setProperty('--zoom', String(whole ? zoomOf(outer.clientHeight, needs) : 1));
    };
    const observer = new ResizeObserver(zoom);
    observer.observe(outer);
    const changes = new MutationObserver(zoom);
    changes.observe(outer, { subtree: true, childList: true, attributeFilter: ['style'] });
    zoom();
    return () => {
      observer.disconnect();
      changes.disconnect();
    };
  }, []);
  const lanes = page.arms.length;
  return (
    <div ref={box} className="deck-stage" data-many={lanes >= many ? '' : undefined}>
      <LessonStage page={page} headerHeight={headerOf(lanes)} />
    </div>
  );
}

export function PictureSlide({ page }: { readonly page: LessonModel }) {
  if (toyOpen(page)) return <LessonToy page={page} />;
  return <Picture page={page} />;
}

function Picture({ page }: { readonly page: LessonModel }) {
  const { lesson, scene, theme, server, sentence } = page;
  return (
    <>
      <p className="deck-claim" data-testid="claim">
        <Terms text={claimOf(lesson, scene)} />
      </p>
      <Notices />
      <LaneErrors failed={failedArms(lesson, server)} />
      <ZoomedStage page={page} />
      <Legend lesson={lesson} scene={scene} theme={theme} index={page.index} />
      <p className="deck-sentence" data-testid="sentence" data-volatile>
        {sentence && <span className="evidence">{evidenceWords(sentence, page.recorded)}</span>}
        <Terms text={sentence} />
      </p>
    </>
  );
}
