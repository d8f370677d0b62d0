// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page for a frame in other slides: the stage, one sentence, and minimal playback controls. Nothing on this page
 * acts on a guest.
 */

import { useEffect, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import {
  type DeckKey,
  type FrameMessage,
  isDeckKey,
  isFrameMessage,
  tag,
} from '../component/frame-messages.ts';
import { MomentOutput, PlayButtons } from '../controls/transport.tsx';
import { momentWords } from '../derive/retime.ts';
import { Legend } from '../panels/legend.tsx';
import { Notices } from '../panels/notices.tsx';
import { SourceBadge } from '../panels/state-strip.tsx';
import { Terms } from '../panels/terms/terms.tsx';
import type { Playback } from '../playback/hooks.tsx';
import { LessonDialogs } from './lesson-dialogs.tsx';
import { LessonToy, ToyButton, toyOpen } from './lesson-toy.tsx';
import { LessonStage } from './stage.tsx';
import type { LessonModel } from './use-lesson-page.ts';

// Receives commands of the framing page: play, pause, seek.

/** @param ready whether the run is loaded and can be played */
function useFrame(playback: Playback, ready: boolean): void {
  const latest = useRef(playback);
  latest.current = playback;
  useEffect(() => {
    if (!ready || parent === window) return undefined;
    const take = ({ source, data }: MessageEvent<unknown>) => {
      if (source !== parent || !isFrameMessage(data)) return;
      const now = latest.current;
      if (data.act === 'seek') now.seek(data.at_ms * 1e6);
      if (data.act === 'pause') now.pause();
      if (data.act === 'play' && now.state.mode === 'paused') now.toggle();
    };
    addEventListener('message', take);
    parent.postMessage({ kind: tag, act: 'ready' }, '*');
    return () => removeEventListener('message', take);
  }, [ready]);
}

export function EmbedPage({ page }: { readonly page: LessonModel }) {
  const { lesson, index, playback, sentence } = page;
  const beat = lesson.beat?.name ?? lesson.operation.name;
  const { state } = playback;
  const axis = index?.axis ?? null;
  const playing = toyOpen(page);
  useFrame(playback, page.nav.settled && !page.guess.veiled);
  const length = Math.max(1, state.watermark);
  return (
    <main className="lesson" data-embed data-testid="embed">
      <Notices />
      <h1 className="embed-title" data-testid="embed-title">
        {page.scene.title}
      </h1>
      {playing ? <LessonToy page={page} /> : <LessonStage page={page} />}
      <LessonDialogs page={page} />
      {!playing && (
        <>
          <Legend lesson={lesson} scene={page.scene} theme={page.theme} index={page.index} />
          <p className="embed-sentence" data-testid="sentence" data-volatile>
            <Terms text={sentence} />
          </p>
        </>
      )}
      <footer className="embed-foot" data-testid="transport">
        <ToyButton page={page} />
        {!playing && (
          <>
            <PlayButtons
              moving={state.mode !== 'paused'}
              backwards={state.direction < 0}
              empty={index === null}
              beat={beat}
              onToggle={playback.toggle}
              onBeat={playback.beat}
            />
            <input
              type="range"
              min={0}
              max={length}
              step="any"
              value={Math.min(length, state.moment)}
              aria-label={t('Moment in the run')}
              aria-valuetext={momentWords(axis, state.moment)}
              onChange={(event) => playback.seek(Number(event.target.value))}
              data-testid="scrubber"
            />
            <MomentOutput className="number" axis={axis} frame={playback.frame} />
          </>
        )}
        <SourceBadge run={page.server.run} kernel={page.kernel} />
        <a
          className="small quiet"
          href={page.address()}
          target="_blank"
          rel="noopener"
          data-testid="whole"
        >
          {t('the whole lesson')}
        </a>
      </footer>
    </main>
  );
}

// Forwards keys to the deck around this frame.
// After a click this frame has the keyboard focus, so it forwards the keys that it does not use.

const typed = 'textarea, select, input:not([type="range"]), [role="dialog"], [contenteditable]';
/** Elements that use the space bar and arrow keys themselves. */
const pressed = 'button, a, summary, input';
const scrolling: ReadonlySet<DeckKey> = new Set(['Home', 'End', 'ArrowUp', 'ArrowDown', ' ']);

/** The key if it is meant for the deck; null if this page or the browser uses it. */
function deckKeyOf(event: KeyboardEvent): DeckKey | null {
  const { key, target, defaultPrevented } = event;
  if (!isDeckKey(key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
    return null;
  const at = target instanceof Element ? target : null;
  if (at?.closest(typed)) return null;
  // Escape clears the selection, and also returns the focus to the deck.
  if (key === 'Escape') return key;
  if (defaultPrevented) return null;
  // Clickers send these two keys; the scrubber does not need them.
  if (key === 'PageUp' || key === 'PageDown') return key;
  if (at?.closest(pressed)) return null;
  const { scrollHeight, clientHeight } = document.documentElement;
  return scrolling.has(key) && scrollHeight > clientHeight ? null : key;
}

/** Start forwarding keys to the framing page. Returns a function that stops forwarding. */
export function passKeys(): () => void {
  const held = new Set<DeckKey>();
  const say = (act: 'keydown' | 'keyup', key: DeckKey) => {
    const message: FrameMessage = { kind: tag, act, key };
    parent.postMessage(message, '*');
  };
  const down = (event: KeyboardEvent) => {
    const key = deckKeyOf(event);
    if (key === null) return;
    event.preventDefault();
    held.add(key);
    say('keydown', key);
  };
  const up = ({ key }: KeyboardEvent) => {
    if (isDeckKey(key) && held.delete(key)) say('keyup', key);
  };
  addEventListener('keydown', down);
  addEventListener('keyup', up);
  return () => {
    removeEventListener('keydown', down);
    removeEventListener('keyup', up);
  };
}
