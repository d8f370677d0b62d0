// SPDX-License-Identifier: GPL-2.0-or-later
/** Explain it in three sentences, then compare with ours. */

import { t } from '../../base/lang/t.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Recap } from './memory.ts';

interface Props {
  readonly explain: NonNullable<Lesson['explain']>;
  readonly recap: Recap;
  readonly onRecap: (recap: Recap) => void;
}

const most = 1500;

export function ExplainPart({ explain, recap, onRecap }: Props) {
  const { mine, compared } = recap;
  return (
    <section className="recap-part" aria-label={t('Explain it')} data-testid="explain">
      <h3>{t('Explain it in three sentences')}</h3>
      <p id="recap-ask">{explain.ask}</p>
      <div className="explain" data-compared={compared ? '' : undefined}>
        <div>
          {compared && <p className="eyebrow">{t('yours')}</p>}
          <textarea
            aria-labelledby="recap-ask"
            rows={compared ? 10 : 5}
            maxLength={most}
            value={mine}
            placeholder={t('In your own words. They stay in this browser.')}
            onChange={(event) => onRecap({ ...recap, mine: event.target.value })}
            data-testid="mine"
          />
        </div>
        {compared && (
          <div data-testid="ours">
            <p className="eyebrow">{t('ours')}</p>
            <ol>
              {explain.ours.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ol>
          </div>
        )}
      </div>
      <button
        type="button"
        className="button"
        onClick={() => onRecap({ ...recap, compared: !compared })}
      >
        {compared
          ? t('hide ours')
          : mine.trim()
            ? t('compare with ours')
            : t('show ours without writing')}
      </button>
    </section>
  );
}
