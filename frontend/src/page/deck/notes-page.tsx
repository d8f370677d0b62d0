// SPDX-License-Identifier: GPL-2.0-or-later
/** What the speaker reads: the time, what to say, what comes next. Follows the wall, and can move it. */

import { useEffect, useRef, useState } from 'react';
import Markdown from 'react-markdown';
import { must } from '../../base/assert.ts';
import type { Place } from '../../navigation/place.ts';
import { sceneOf } from '../../navigation/scene.ts';
import type { Go } from '../../navigation/use-place.ts';
import { useMarked } from '../../panels/terms/terms.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import { off } from '../../ui/off.ts';
import { type Channel, type DeckNews, openChannel } from './channel.ts';
import { type DeckAct, deckAct } from './moves.ts';
import { clockWords, sayOf, stopTitle } from './say.ts';
import { slideCount, stopAt } from './slides.ts';
import { useStops } from './use-deck.ts';

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
  const next = stops[at + 1];
  const scene = sceneOf(lesson, stop.step);
  const say = sayOf(lesson.content, scene, stop);
  // The address follows, so that a reload stays where it is.
  useEffect(() => go({ step: stop.step }, 'replace'), [go, stop.step]);
  const press = (act: DeckAct) => {
    if (act !== 'notes' && act !== 'handout') send({ kind: 'move', act });
  };
  useNotesKeys(press);
  return (
    <main className="notes" data-testid="notes">
      <header>
        <Elapsed since={news?.since ?? null} onRestart={() => send({ kind: 'restart' })} />
        <span className="number" data-testid="notes-count">
          {stop.number} of {slideCount(stops)}
        </span>
        <span className="spring" />
        <button type="button" className="button" onClick={() => press('back')}>
          back
        </button>
        <button type="button" className="button" data-strong onClick={() => press('next')}>
          next
        </button>
      </header>
      <h1 data-testid="notes-title">{stopTitle(scene, stop)}</h1>
      {news === null && (
        <p className="quiet" role="status">
          No slides of this lesson are open in this browser. Open the lesson, press p, and these
          notes follow.
        </p>
      )}
      {scene.notes && (
        <div className="prose notes-own" data-testid="notes-own">
          <Markdown {...marked}>{scene.notes}</Markdown>
        </div>
      )}
      <div className="prose" data-testid="notes-say">
        <Markdown {...marked}>{say}</Markdown>
      </div>
      {news?.answer && (
        <p className="notes-extra" data-testid="notes-answer">
          <b>The answer:</b> {news.answer}
        </p>
      )}
      {news?.sentence && (
        <p className="notes-extra">
          <b>On the wall now:</b> {news.sentence}
        </p>
      )}
      <footer data-testid="notes-next">
        <b>Next:</b> {next === undefined ? 'the end' : stopTitle(sceneOf(lesson, next.step), next)}
      </footer>
    </main>
  );
}

/** What the wall last said, and how to speak to it. */
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

function Elapsed({
  since,
  onRestart,
}: {
  readonly since: number | null;
  readonly onRestart: () => void;
}) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <b className="number notes-clock" data-testid="notes-clock" data-volatile>
        {since === null ? '–' : clockWords(now - since)}
      </b>
      <button
        type="button"
        className="link"
        onClick={onRestart}
        {...off(since === null && 'No slides of this lesson are open.')}
      >
        from 0:00
      </button>
    </>
  );
}
