// SPDX-License-Identifier: GPL-2.0-or-later
/** What the mails claim: each figure with its context, and where it stands. */

import { t } from '../base/lang/t.ts';
import { measureCommand } from '../panels/mail.ts';
import type { NumbersLesson } from '../protocol/lesson.ts';
import { Command } from './command.tsx';

type Props = { readonly lesson: Pick<NumbersLesson, 'slug' | 'published' | 'mails'> };

export function PublishedFigures({ lesson }: Props) {
  return (
    <section aria-labelledby="numbers-published">
      <h2 id="numbers-published">{t('What the mail claims')}</h2>
      <dl className="claims" data-testid="published">
        {lesson.published.map((figure) => (
          <div key={`${figure.claim} ${figure.mail}`}>
            <dt>{figure.claim}</dt>
            <dd className="number">{figure.mail}</dd>
            {figure.not_testable && (
              <dd className="quiet small">
                {t('not testable here: {why}', { why: figure.not_testable })}
              </dd>
            )}
          </div>
        ))}
      </dl>
      <ul className="quiet small" data-testid="mails">
        {Object.entries(lesson.mails).map(([name, mail]) => (
          <li key={name}>
            {mail.author}, {mail.date},{' '}
            {mail.url ? (
              <a href={mail.url} rel="noreferrer">
                {mail.subject}
              </a>
            ) : (
              mail.subject
            )}
          </li>
        ))}
      </ul>
      <p className="quiet small">
        {t(
          'These are the mail’s figures, not ours. This sets ours beside them, each with a verdict:',
        )}
      </p>
      <Command text={`${measureCommand(lesson.slug)} --published`} />
    </section>
  );
}
