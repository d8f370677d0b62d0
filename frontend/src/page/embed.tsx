// SPDX-License-Identifier: GPL-2.0-or-later
/** For a frame in slides: the stage, one sentence, a minimal transport; nothing here acts on a guest. */

import type { ReactNode } from 'react';
import { PlayButtons } from '../controls/play-buttons.tsx';
import { momentWords } from '../derive/retime.ts';
import type { RunIndex } from '../derive/types.ts';
import { SourceBadge } from '../panels/state-strip.tsx';
import type { Playback } from '../playback/actions.ts';
import type { RunMessage } from '../protocol/messages.ts';

interface Props {
  readonly run: RunMessage | null;
  readonly kernel: string | null;
  readonly index: RunIndex | null;
  readonly playback: Playback;
  readonly sentence: string;
  readonly beat: string;
  /** The whole page at this moment. */
  readonly address: () => string;
  readonly children: ReactNode;
}

export function Embed(props: Props) {
  const { run, index, playback, sentence, beat, children } = props;
  const { state } = playback;
  const axis = index?.axis ?? null;
  const length = Math.max(1, state.watermark);
  return (
    <main className="lesson" data-embed data-testid="embed">
      {children}
      <p className="embed-sentence" data-testid="sentence" data-volatile>
        {sentence}
      </p>
      <footer className="embed-foot" data-testid="transport">
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
          aria-label="Moment in the run"
          aria-valuetext={momentWords(axis, state.moment)}
          onChange={(event) => playback.seek(Number(event.target.value))}
          data-testid="scrubber"
        />
        <output className="number" data-testid="moment" data-volatile>
          {momentWords(axis, state.moment)}
        </output>
        <SourceBadge run={run} kernel={props.kernel} />
        <a
          className="small quiet"
          href={props.address()}
          target="_blank"
          rel="noopener"
          data-testid="whole"
        >
          the whole lesson
        </a>
      </footer>
    </main>
  );
}
