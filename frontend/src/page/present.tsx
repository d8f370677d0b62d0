// SPDX-License-Identifier: GPL-2.0-or-later
/** The shell for projectors: two lanes, one sentence, large text; clickers change steps. */

import { momentWords } from '../derive/retime.ts';
import { Legend } from '../panels/legend.tsx';
import { LaneErrors, Notices } from '../panels/notices.tsx';
import { SourceBadge } from '../panels/state-strip.tsx';
import type { Playback } from '../playback/actions.ts';
import type { Axis, Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { evidenceWords } from '../ui/words.ts';
import { failedArms } from './arm-states.ts';
import { LessonDialogs } from './lesson-dialogs.tsx';
import { LessonStage } from './lesson-stage.tsx';
import type { LessonModel } from './use-lesson-page.ts';

export function PresentPage({ page }: { readonly page: LessonModel }) {
  const { lesson, scene, theme, kernel, server, playback, index, sentence, go } = page;
  return (
    <div className="lesson" data-present data-testid="present">
      <PresentTop lesson={lesson} scene={scene} run={server.run} kernel={kernel} />
      <Notices />
      <LaneErrors failed={failedArms(lesson, server)} />
      <LessonStage page={page} />
      <Legend lesson={lesson} scene={scene} theme={theme} />
      <p className="present-sentence" data-testid="sentence" data-volatile>
        <span className="evidence">{evidenceWords(sentence, page.recorded)}</span>
        {sentence}
      </p>
      <PresentFoot
        playback={playback}
        axis={index?.axis ?? null}
        onLeave={() => go({ present: false }, 'replace')}
      />
      <LessonDialogs page={page} />
    </div>
  );
}

interface TopProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly run: RunMessage | null;
  readonly kernel: string | null;
}

function PresentTop({ lesson, scene, run, kernel }: TopProps) {
  return (
    <header className="present-top">
      <h1>{scene.title}</h1>
      <SourceBadge run={run} kernel={kernel} />
      {run && (
        <span className="badge">
          clock <b>{run.clock}</b>
        </span>
      )}
      <span className="quiet number">
        {lesson.scenes.indexOf(scene) + 1} / {lesson.scenes.length}
      </span>
    </header>
  );
}

interface FootProps {
  readonly playback: Playback;
  readonly axis: Axis | null;
  readonly onLeave: () => void;
}

function PresentFoot({ playback, axis, onLeave }: FootProps) {
  const { state } = playback;
  return (
    <footer className="present-foot">
      <button type="button" className="button" onClick={playback.toggle} data-testid="play">
        {state.mode === 'paused' ? 'play' : 'pause'}
      </button>
      <span className="number" data-testid="moment" data-volatile>
        {momentWords(axis, state.moment)}
      </span>
      <span className="number">{state.speedWords}</span>
      <button type="button" className="link" onClick={onLeave}>
        leave (p)
      </button>
    </footer>
  );
}
