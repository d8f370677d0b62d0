// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The speaker's window: elapsed and planned time, the text to say, and the next stop. The window follows the slides and
 * can change the current slide.
 */

import { useEffect, useRef, useState } from 'react';
import { must } from '../../base/assert.ts';
import { rich, t } from '../../base/lang/t.ts';
import { sceneOf } from '../../navigation/navigation.ts';
import type { Place } from '../../navigation/place.ts';
import type { Go } from '../../navigation/use-navigation.ts';
import { useMarked } from '../../panels/terms/terms.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import { Markdown } from '../../ui/markdown.tsx';
import { viewOf } from '../../views/registry.ts';
import { Elapsed, plannedOf } from './elapsed.tsx';
import {
  answerOf,
  hintOf,
  previewOf,
  type Stop,
  sayOf,
  slideCount,
  stopAt,
  stopTitle,
} from './slides.ts';
import {
  type Channel,
  type DeckAct,
  type DeckNews,
  deckAct,
  openChannel,
  useStops,
} from './use-deck.ts';

interface Props {
  readonly lesson: Lesson;
  readonly place: Place;
  readonly go: Go;
}

export function NotesPage({ lesson, place, go }: Props) {
  const marked = useMarked();
  const { news, send } = useWall(lesson.slug);
  const stops = useStops(lesson);
  const at = stopAt(stops, news?.step ?? sceneOf(lesson, place.step).id, news?.press ?? null);
  const stop = must(stops[at], 'a stop');
  const scene = sceneOf(lesson, stop.step);
  const say = sayOf(lesson.content, scene, stop);
  const hint = hintOf(stop.slide);
  const answer = answerOf(lesson, stop.slide) || (stop.slide.kind === 'ask' && news?.answer);
  // Keep the address up to date, so that a reload shows the same stop.
  useEffect(() => go({ step: stop.step }, 'replace'), [go, stop.step]);
  const press = (act: DeckAct) => {
    if (act !== 'notes' && act !== 'handout') send({ kind: 'move', act });
  };
  useNotesKeys(press);
  return (
    <main className="notes" data-testid="notes">
      <header>
        <Elapsed
          since={news?.since ?? null}
          planned={plannedOf(lesson.scenes, stop.step)}
          onRestart={() => send({ kind: 'restart' })}
        />
        <span className="number" data-testid="notes-count">
          {t('{number} of {stops}', { number: stop.number, stops: slideCount(stops) })}
        </span>
        <span className="spring" />
        <button type="button" className="button" onClick={() => press('back')}>
          {t('back')}
        </button>
        <button type="button" className="button" data-strong onClick={() => press('next')}>
          {t('next')}
        </button>
      </header>
      <h1 data-testid="notes-title">{stopTitle(lesson, scene, stop)}</h1>
      {news === null && (
        <p className="quiet" role="status">
          {t(
            'No slides of this lesson are open in this browser. Open the lesson, press p, and these notes follow.',
          )}
        </p>
      )}
      {(hint || scene.notes) && (
        <div className="prose notes-own" data-testid="notes-own">
          <Markdown {...marked}>{hint || scene.notes}</Markdown>
        </div>
      )}
      {answer && (
        <p className="notes-extra" data-testid="notes-answer">
          <b>{t('The answer:')}</b> {answer}
        </p>
      )}
      {news?.sentence && (
        <p className="notes-extra">
          <b>{t('On the projector now:')}</b> {news.sentence}
        </p>
      )}
      {say && (
        <div className="prose notes-text" data-testid="notes-say">
          <p className="eyebrow">{t('The step’s text')}</p>
          <Markdown {...marked}>{say}</Markdown>
        </div>
      )}
      <Next lesson={lesson} next={stops[at + 1]} />
    </main>
  );
}

/** The next stop's name and first sentence, which the speaker can use as a transition. */
function Next({ lesson, next }: { readonly lesson: Lesson; readonly next: Stop | undefined }) {
  if (next === undefined)
    return (
      <footer data-testid="notes-next">
        {rich('<b>Next:</b> the end', { b: (words) => <b>{words}</b> })}
      </footer>
    );
  const scene = sceneOf(lesson, next.step);
  const preview = previewOf(lesson, scene, next, viewOf(lesson.view).panels ?? {});
  return (
    <footer data-testid="notes-next">
      <b>{t('Next:')}</b> {stopTitle(lesson, scene, next)}
      {preview && <span className="notes-preview">{preview}</span>}
    </footer>
  );
}

/** The deck's latest message, and a function that sends a message to the deck. */
function useWall(slug: string) {
  const [news, setNews] = useState<DeckNews | null>(null);
  const channel = useRef<Channel | null>(null);
  useEffect(() => {
    channel.current = openChannel(slug, (message) => {
      if (message.kind === 'at') setNews(message);
    });
    channel.current.send({ kind: 'hello' });
    return () => channel.current?.close();
  }, [slug]);
  return {
    news,
    send: (...message: Parameters<Channel['send']>) => channel.current?.send(...message),
  };
}

function useNotesKeys(press: (act: DeckAct) => void): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const act = deckAct(event);
      if (act === null) return;
      event.preventDefault();
      latest.current(act);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
