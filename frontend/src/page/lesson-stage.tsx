// SPDX-License-Identifier: GPL-2.0-or-later
/** The stage of a lesson, covered while the viewer is asked to predict. */

import { t } from '../base/lang/t.ts';
import { PointMap } from '../classroom/entry.tsx';
import { unseenWords } from '../derive/sought.ts';
import { viewOf } from '../views/registry.ts';
import { Stage } from './stage.tsx';
import type { LessonModel } from './use-lesson-page.ts';
import { comingWords } from './words.ts';

/** Headers over many lanes are low. */
const lowHeader = 26;
const many = 3;

export function LessonStage(props: { readonly page: LessonModel; readonly headerHeight?: number }) {
  const { page } = props;
  const { lesson, scene, arms, index, theme, server, nav, guess } = page;
  const low = arms.length > many ? lowHeader : null;
  const headerHeight = props.headerHeight ?? low;
  return (
    <Stage
      {...{ lesson, scene, arms, index, theme }}
      {...(headerHeight === null ? {} : { headerHeight })}
      run={server.run}
      lanes={server.lanes}
      builds={server.builds}
      pending={server.pending !== null}
      shown={server.shownLanes}
      uncounted={guess.spoils('counts') && !page.live}
      coming={nav.coming ? '' : comingWords(server.reading, server.run, nav.awaiting)}
      unseen={guess.veiled ? '' : unseenWords(index, scene, lesson, viewOf(lesson.view).moments)}
      veil={
        guess.veiled && (
          <div className="stage-veil" data-testid="veil">
            <p>{t('First say what you expect; then look.')}</p>
            <button type="button" className="button" onClick={guess.reveal}>
              {t('just show me')}
            </button>
          </div>
        )
      }
      onMark={page.onMark}
      onLoss={() => page.setDialog('losses')}
      spotlight={page.inClass.spotlight}
      over={!guess.veiled && <PointMap shown={page.pointing.shown} />}
    />
  );
}
