// SPDX-License-Identifier: GPL-2.0-or-later
/** For projectors: two lanes, one sentence, large text; clickers change steps. */

import { momentWords } from '../derive/retime.ts';
import { SourceBadge } from '../panels/state-strip.tsx';
import type { Playback } from '../playback/actions.ts';
import type { Axis, Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';

/** The two lanes that a wall can hold: those of the prediction, else the first two of the step. */
export function presentArms(
  lesson: Lesson,
  scene: Scene,
  arms: readonly string[],
): readonly string[] {
  const asked = scene.predict ? (lesson.predictions[scene.predict]?.arms ?? []) : [];
  const two = asked.every((a) => arms.includes(a)) && asked.length === 2 ? asked : arms.slice(0, 2);
  return lesson.arms.map((a) => a.name).filter((a) => two.includes(a));
}

interface TopProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly run: RunMessage | null;
  readonly kernel: string | null;
}

export function PresentTop({ lesson, scene, run, kernel }: TopProps) {
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

export function PresentFoot({ playback, axis, onLeave }: FootProps) {
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
