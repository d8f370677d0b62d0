// SPDX-License-Identifier: GPL-2.0-or-later
/** The shell for projectors: a deck of slides that a clicker walks through, from the first step to the last. */

import { rich, t } from '../../base/lang/t.ts';
import { MomentOutput } from '../../controls/transport.tsx';
import { ChangeNews } from '../../editor/entry.tsx';
import { SourceBadge } from '../../panels/state-strip.tsx';
import { off } from '../../ui/parts.tsx';
import { LessonDialogs } from '../lesson-dialogs.tsx';
import { ToyButton, toyOpen } from '../lesson-toy.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { AskSlide } from './ask-slide.tsx';
import { EvidenceSlide } from './evidence-slide.tsx';
import { PictureSlide } from './picture-slide.tsx';
import { ExplainSlide, QuizSlide } from './recap-slides.tsx';
import { headOf } from './say.ts';
import type { Stop } from './slides.ts';
import { type Deck, offersToy, useDeck } from './use-deck.ts';
import { useSheet } from './use-scale.ts';
import { WordsSlide } from './words-slide.tsx';

export function DeckPage({ page }: { readonly page: LessonModel }) {
  const deck = useDeck(page);
  return (
    <div className="lesson deck" data-present data-testid="present" style={useSheet()}>
      <SlideFace page={page} stop={deck.stop} />
      <DeckFoot page={page} deck={deck} />
      <LessonDialogs page={page} />
    </div>
  );
}

interface FaceProps {
  readonly page: LessonModel;
  readonly stop: Stop;
  readonly paper?: boolean;
}

/** One slide, on the wall and on paper. */
export function SlideFace({ page, stop, paper = false }: FaceProps) {
  const { lesson, scene, server, kernel } = page;
  const { kind } = stop.slide;
  const ofRun = kind === 'picture' || kind === 'evidence';
  const ofStep = ofRun || kind === 'ask';
  return (
    <>
      <header className="deck-top" data-kind={kind}>
        <span className="eyebrow number">
          {ofStep ? `${lesson.scenes.indexOf(scene) + 1} / ${lesson.scenes.length}` : lesson.title}
        </span>
        <h1>{headOf(lesson, scene, stop)}</h1>
        {ofRun && <SourceBadge run={server.run} kernel={kernel} />}
        {ofRun && server.run && (
          <span className="badge">
            {rich('clock <b>{clock}</b>', {
              clock: t('{clock, select, count {count} other {wall}}', { clock: server.run.clock }),
              b: (words) => <b>{words}</b>,
            })}
          </span>
        )}
      </header>
      <main
        className="deck-body"
        data-kind={kind}
        data-step={stop.step}
        data-revealed={stop.revealed ? '' : undefined}
        data-ready={page.nav.settled && page.nav.whole ? '' : undefined}
        data-testid={`slide-${kind}`}
      >
        <SlideBody page={page} stop={stop} paper={paper} />
      </main>
    </>
  );
}

function SlideBody({ page, stop: { slide, revealed }, paper }: Required<FaceProps>) {
  const { lesson } = page;
  switch (slide.kind) {
    case 'words':
      return <WordsSlide lesson={lesson} terms={slide.terms} mail={slide.mail} />;
    case 'ask':
      return <AskSlide page={page} revealed={revealed} />;
    case 'picture':
      return <PictureSlide page={page} />;
    case 'evidence':
      return <EvidenceSlide page={page} parts={slide.parts} paper={paper} />;
    case 'explain':
      return <ExplainSlide lesson={lesson} revealed={revealed} />;
    case 'quiz':
      return <QuizSlide lesson={lesson} questions={slide.questions} revealed={revealed} />;
  }
}

function DeckFoot({ page, deck }: { readonly page: LessonModel; readonly deck: Deck }) {
  const { playback, index, acts } = page;
  const { at, stops, stop, slides, act } = deck;
  const { state } = playback;
  return (
    <footer className="deck-foot">
      <button
        type="button"
        className="button"
        onClick={() => act('back')}
        {...off(at === 0 && t('This is the first slide.'))}
        data-testid="deck-back"
      >
        {t('back')}
      </button>
      <button
        type="button"
        className="button"
        data-strong={at < stops.length - 1 ? '' : undefined}
        onClick={() => act('next')}
        {...off(at === stops.length - 1 && t('This is the last slide.'))}
        data-testid="deck-next"
      >
        {t('next')}
      </button>
      <span className="number" data-testid="deck-count">
        {t('{number} of {slides}', { number: stop.number, slides })}
      </span>
      {offersToy(page, stop) && <ToyButton page={page} hint=" (y)" />}
      {stop.slide.kind === 'picture' && !toyOpen(page) && (
        <>
          <button type="button" className="button" onClick={playback.toggle} data-testid="play">
            {state.mode === 'paused' ? t('play') : t('pause')}
          </button>
          <MomentOutput className="number" axis={index?.axis ?? null} frame={playback.frame} />
          <span className="number">{state.speedWords}</span>
        </>
      )}
      <span className="spring" />
      <ChangeNews />
      <button type="button" className="link" onClick={() => act('notes')} data-testid="deck-notes">
        {t('notes (s)')}
      </button>
      <button type="button" className="link" onClick={() => act('handout')}>
        {t('handout (h)')}
      </button>
      <button type="button" className="link" onClick={acts.present}>
        {t('leave (p)')}
      </button>
    </footer>
  );
}
