// SPDX-License-Identifier: GPL-2.0-or-later
/** The shell for a frame in slides: the stage, one sentence, a minimal transport; nothing here acts on a guest. */

import { t } from '../base/lang/t.ts';
import { MomentOutput, PlayButtons } from '../controls/transport.tsx';
import { momentWords } from '../derive/retime.ts';
import { Legend } from '../panels/legend.tsx';
import { Notices } from '../panels/notices.tsx';
import { SourceBadge } from '../panels/state-strip.tsx';
import { Terms } from '../panels/terms/terms.tsx';
import { LessonDialogs } from './lesson-dialogs.tsx';
import { LessonStage } from './lesson-stage.tsx';
import { LessonToy, ToyButton, toyOpen } from './lesson-toy.tsx';
import { useFrame } from './use-frame.ts';
import type { LessonModel } from './use-lesson-page.ts';

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
