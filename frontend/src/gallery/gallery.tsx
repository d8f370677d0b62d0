// SPDX-License-Identifier: GPL-2.0-or-later
/** Every view on one run, side by side in both themes. */

import { useEffect, useMemo } from 'react';
import { darkTheme, lightTheme, type Theme } from '../base/theme.ts';
import { ns } from '../base/units.ts';
import { StoreProvider, useLesson } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import { HogRowsCanvas, KindSwatch } from '../views/hog-rows/index.tsx';
import { PlaybackProvider, usePlayback, useRunIndex, useSentence } from '../views/hooks.tsx';
import { LatencyDots } from '../views/latency-dots/index.tsx';
import { Overview } from '../views/overview/index.tsx';
import { drawTimes } from '../views/use-canvas.ts';

interface Props {
  readonly store: Store;
  readonly at: number;
  readonly span: number;
  readonly share: number;
  readonly height: number;
  readonly themes: readonly string[];
  readonly focus: readonly string[];
  readonly play: boolean;
  /** Where the run comes from. */
  readonly words: string;
}

export function Gallery(props: Props) {
  return (
    <StoreProvider store={props.store}>
      <PlaybackProvider>
        <Sheets {...props} />
      </PlaybackProvider>
    </StoreProvider>
  );
}

function Sheets({ at, span, share, height, themes, focus, play, words }: Props) {
  const playback = usePlayback();
  const { setWindow, seek, focus: setFocus, scope } = playback;
  useEffect(() => {
    setWindow(at * 1e6, span * 1e6);
    seek((at + span * share) * 1e6);
    setFocus(focus);
    if (play) scope();
    Object.assign(window, { drawTimes, playback: { setWindow, seek } });
  }, [at, span, share, focus, play, setWindow, seek, setFocus, scope]);
  return (
    <>
      {themes.map((name) => (
        <Sheet
          key={name}
          theme={name === 'dark' ? darkTheme : lightTheme}
          height={height}
          words={words}
        />
      ))}
    </>
  );
}

function Sheet({
  theme,
  height,
  words,
}: {
  readonly theme: Theme;
  readonly height: number;
  readonly words: string;
}) {
  const index = useRunIndex();
  const lesson = useLesson();
  const playback = usePlayback();
  const waits = useSentence('waits');
  const wakes = useSentence('wakes');
  const rates = useSentence('rates');
  const kinds = useMemo(() => lesson?.kinds ?? [], [lesson]);
  if (index === null || lesson === null) return null;
  const shared = { runIndex: index, lesson, frame: playback.frame, theme };
  return (
    <section
      style={{
        background: theme.paper,
        color: theme.ink,
        padding: 24,
        font: `14px/1.5 ${theme.font}`,
      }}
    >
      <p style={{ margin: '0 0 12px' }}>
        {words} · {playback.state.speedWords} · {waits} {wakes} {rates}
      </p>
      <div style={{ position: 'relative', height }}>
        <HogRowsCanvas {...shared} onSeek={playback.seek} onSelect={playback.select} />
      </div>
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: '6px 22px', margin: '12px 0' }}>
        {kinds.map((kind) => (
          <span key={kind.name} style={{ display: 'inline-flex', gap: 8, alignItems: 'center' }}>
            <KindSwatch kind={kind.name} kinds={kinds} theme={theme} />
            {kind.title}
          </span>
        ))}
      </div>
      <div style={{ display: 'flex', gap: 32 }}>
        <div style={{ width: 320 }}>
          <LatencyDots {...shared} />
        </div>
        <div style={{ position: 'relative', flex: 1, height: 110 }}>
          <Overview {...shared} onWindow={(start) => playback.setWindow(ns(start))} />
        </div>
      </div>
    </section>
  );
}
