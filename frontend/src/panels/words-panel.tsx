// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The text alternative of the picture: a sentence about the moment, a summary of the window, and a list of nearby
 * marks.
 */

import { rich, t } from '../base/lang/t.ts';
import { momentWords } from '../derive/retime.ts';
import type { Mark } from '../derive/types.ts';
import { useNearby, usePlayback, useRunIndex, useSummary } from '../playback/hooks.tsx';
import { evidenceWords } from '../ui/words.ts';
import { Terms } from './terms/terms.tsx';

interface Props {
  readonly sentence: string;
  readonly onMark: (mark: Mark) => void;
  readonly onClose: () => void;
}

export function WordsPanel({ sentence, onMark, onClose }: Props) {
  const summary = useSummary();
  const nearby = useNearby();
  const { state } = usePlayback();
  const axis = useRunIndex()?.axis ?? null;
  return (
    <section className="words" aria-label={t('The picture in words')} data-testid="words">
      <header>
        <p className="eyebrow">
          {rich('In words, at <span>{axis}</span> <span2>{sentence}</span2>', {
            axis: momentWords(axis, state.moment),
            span: (words) => <span className="number">{words}</span>,
            sentence: evidenceWords(sentence, false),
            span2: (words) => <span className="evidence">{words}</span>,
          })}
        </p>
        <button type="button" className="link" onClick={onClose}>
          {t('close')}
        </button>
      </header>
      <div data-volatile>
        {sentence && (
          <p>
            <Terms text={sentence} />
          </p>
        )}
        <h3>{t('The window')}</h3>
        <ul className="summary">
          {summary.map((sentence) => (
            <li key={sentence}>
              <Terms text={sentence} />
            </li>
          ))}
        </ul>
        <h3>{t('Nearby')}</h3>
        <table className="table small">
          <thead>
            <tr>
              <th scope="col">{t('when')}</th>
              <th scope="col">{t('lane')}</th>
              <th scope="col">{t('row')}</th>
              <th scope="col">{t('what')}</th>
              <th scope="col" className="right">
                {t('for')}
              </th>
              <th scope="col">{t('CPU')}</th>
            </tr>
          </thead>
          <tbody>
            {nearby.map((row) => (
              <tr key={`${row.mark.arm} ${row.mark.kind} ${row.mark.row} ${row.mark.id} ${row.t0}`}>
                <td className="number">{row.when}</td>
                <td>{row.lane}</td>
                <td>{row.row}</td>
                <td>
                  <button type="button" className="link" onClick={() => onMark(row.mark)}>
                    {row.what}
                  </button>
                </td>
                <td className="right">{row.length}</td>
                <td>{row.cpu}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
