// SPDX-License-Identifier: GPL-2.0-or-later
/** For the instructor alone: what to say at this step, and the time of the class against the lesson's plan. */

import Markdown from 'react-markdown';
import { t } from '../base/lang/t.ts';
import { useMarked } from '../panels/terms/terms.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { Elapsed } from './deck/elapsed.tsx';
import { plannedOf } from './deck/plan.ts';

interface Props {
  readonly lesson: Pick<Lesson, 'scenes'>;
  readonly scene: Pick<Scene, 'id' | 'notes'>;
  /** ms, when the clock began. */
  readonly since: number;
  readonly onRestart: () => void;
}

export function ClassNotes({ lesson, scene, since, onRestart }: Props) {
  const marked = useMarked();
  return (
    <div data-testid="class-notes">
      <p className="class-clock small">
        <Elapsed since={since} planned={plannedOf(lesson.scenes, scene.id)} onRestart={onRestart} />
      </p>
      {scene.notes ? (
        <div className="prose small">
          <Markdown {...marked}>{scene.notes}</Markdown>
        </div>
      ) : (
        <p className="quiet small">{t('This step has no notes.')}</p>
      )}
    </div>
  );
}
