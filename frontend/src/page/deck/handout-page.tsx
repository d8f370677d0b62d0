// SPDX-License-Identifier: GPL-2.0-or-later
/** All slides on paper, one a page, with the step's text below: to be printed, or saved as PDF. */

import { useCallback, useEffect, useRef } from 'react';
import Markdown from 'react-markdown';
import { t } from '../../base/lang/t.ts';
import { sceneOf } from '../../navigation/navigation.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';
import { showTheme } from '../../ui/theme.ts';
import type { LessonModel } from '../use-lesson-page.ts';
import { SlideFace } from './deck-page.tsx';
import { Fit } from './fit.tsx';
import { paperSay } from './say.ts';
import { type PaperPage, usePages } from './use-pages.ts';
import { sheet } from './use-scale.ts';

export function HandoutPage({ page }: { readonly page: LessonModel }) {
  const { lesson, go } = page;
  const face = useRef<HTMLDivElement>(null);
  const { pages, total, stop } = usePages(page, face);
  useEffect(() => showTheme('light'), []);
  const whole = stop === null;
  return (
    <div className="handout" data-whole={whole ? '' : undefined} data-testid="handout">
      <header className="handout-bar">
        <h1>{lesson.question}</h1>
        <p role="status">
          {whole
            ? t('{total} pages', { total })
            : t('Page {pages} of {total} is being made…', { pages: pages.length + 1, total })}
        </p>
        <button
          type="button"
          className="button"
          data-strong
          onClick={() => print()}
          {...off(!whole && t('Not all pages are made yet.'))}
        >
          {t('print, or save as PDF')}
        </button>
        <button type="button" className="button" onClick={() => go({ present: null, slide: null })}>
          {t('to the lesson')}
        </button>
      </header>
      {pages.map((one) => (
        <Paper key={one.stop.number} lesson={lesson} page={one} total={total} />
      ))}
      {stop !== null && (
        <div className="handout-making" aria-hidden="true">
          <div ref={face} className="lesson deck" data-present style={sheet}>
            <SlideFace
              page={page}
              paper
              stop={{ ...stop, ...(page.scene.id === stop.step ? {} : blank) }}
            />
          </div>
        </div>
      )}
    </div>
  );
}

/** While the next step comes. */
const blank = { slide: { kind: 'evidence', parts: [] } } as const;

interface PaperProps {
  readonly lesson: Lesson;
  readonly page: PaperPage;
  readonly total: number;
}

function Paper({ lesson, page: { stop, face }, total }: PaperProps) {
  const put = useCallback((box: HTMLElement | null) => box?.replaceChildren(face), [face]);
  const say = paperSay(lesson, sceneOf(lesson, stop.step), stop);
  return (
    <section className="handout-page" data-testid="handout-page">
      <div ref={put} className="handout-sheet" />
      <Fit>
        <div className="prose handout-say">
          <Markdown>{say}</Markdown>
        </div>
      </Fit>
      <p className="handout-foot">
        {t('{title} · {number} of {total}', { title: lesson.title, number: stop.number, total })}
      </p>
    </section>
  );
}
