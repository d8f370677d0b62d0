// SPDX-License-Identifier: GPL-2.0-or-later
/** Live runs that were saved: play, download, delete; and two runs of a lesson against each other. */

import { t } from '../base/lang/t.ts';
import { paramWords } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { Dialog } from '../ui/dialog.tsx';
import { fileSize, when } from '../ui/words.ts';
import { Compare } from './differences.tsx';
import { type SavedRun, savedId, useSavedRuns } from './saved-list.ts';

interface Props {
  readonly lesson: Lesson;
  readonly open: boolean;
  /** The run on the stage. */
  readonly shown: string | null;
  readonly onPlay: (runId: string) => void;
  readonly onClose: () => void;
}

export function SavedRunsDialog({ lesson, open, shown, onPlay, onClose }: Props) {
  const { runs, failed, remove } = useSavedRuns(lesson.slug, open);
  return (
    <Dialog title={t('Saved runs')} open={open} onClose={onClose} testId="saved-runs">
      <p className="small quiet">
        {t(
          'Every live run is saved on the server’s machine when it is over, the newest first; the oldest go when there are too many. Whoever started a run may delete it, and so may the operator.',
        )}
      </p>
      {failed && <p role="alert">{failed}</p>}
      {runs === null && !failed && <p role="status">{t('The list is on its way…')}</p>}
      {runs?.length === 0 && <p>{t('No live run of this lesson is saved yet.')}</p>}
      <ul className="saved-list">
        {runs?.map((run) => (
          <li key={run.name} data-testid={`saved-${run.name}`}>
            <Line lesson={lesson} run={run} />
            <span className="saved-buttons">
              <button
                type="button"
                className="button"
                aria-pressed={shown === savedId(run)}
                onClick={() => onPlay(savedId(run))}
                aria-label={t('Play the run of {when}', {
                  when: when(run.recorded_at ?? ''),
                })}
              >
                {shown === savedId(run) ? t('on the stage') : t('play')}
              </button>
              <a
                className="link small"
                href={`api/runs/${encodeURIComponent(savedId(run))}/bundle`}
                download
              >
                {t('download')}
              </a>
              {run.deletable !== false && (
                <button
                  type="button"
                  className="link small"
                  onClick={() => void remove(run.name)}
                  aria-label={t('Delete the run of {when}', {
                    when: when(run.recorded_at ?? ''),
                  })}
                >
                  {t('delete')}
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Compare lesson={lesson} saved={runs ?? []} shown={shown} />
    </Dialog>
  );
}

function Line({ lesson, run }: { readonly lesson: Lesson; readonly run: SavedRun }) {
  const titles = run.arms.map((name) => lesson.arms.find((a) => a.name === name)?.title ?? name);
  const workload = lesson.workloads[run.workload ?? '']?.title ?? run.workload;
  const knobs = paramWords(lesson, run.params ?? {});
  return (
    <span>
      <b>{t('saved run of {when}', { when: when(run.recorded_at ?? '') })}</b>
      <small>
        {titles.join(', ')}
        <br />
        {[workload, ...knobs, `${run.clock} clock`, fileSize(run.bytes)].join(' · ')}
      </small>
    </span>
  );
}

/** On the front page: all saved runs, a link each; nothing where there are none. */
export function SavedOnHome({
  titles,
}: {
  readonly titles: readonly { readonly slug: string; readonly title: string }[];
}) {
  const { runs } = useSavedRuns('', true);
  const known = (runs ?? []).filter((run) => titles.some((t) => t.slug === run.lesson));
  if (known.length === 0) return null;
  return (
    <details className="saved-front" data-testid="saved-front">
      <summary>
        {t('{known, plural, one {# live run} other {# live runs}} saved on this machine', {
          known: known.length,
        })}
      </summary>
      <ul>
        {known.map((run) => (
          <li key={run.name}>
            <a href={`?lesson=${run.lesson}&run=${savedId(run)}`}>
              {t('saved run of {when}', { when: when(run.recorded_at ?? '') })}
            </a>{' '}
            <span className="quiet small">
              {titles.find((t) => t.slug === run.lesson)?.title}: {run.arms.join(', ')},{' '}
              {fileSize(run.bytes)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
