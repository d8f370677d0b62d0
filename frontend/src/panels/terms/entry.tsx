// SPDX-License-Identifier: GPL-2.0-or-later
/** The beginning of a lesson: who wrote the mail, and the words that one has to know, each with a drawing. */

import { memo, useRef } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { dateWords } from '../discussion.tsx';
import { Drawing } from './drawing.tsx';

export const Entry = memo(({ lesson }: { readonly lesson: Lesson }) => {
  const list = useRef<HTMLUListElement>(null);
  const terms = lesson.terms.filter((term) => term.entry);
  const mail = Object.values(lesson.mails)[0];
  if (terms.length === 0) return null;
  const bring = (i: number) => {
    const items = list.current;
    const item = items?.children[i];
    if (item instanceof HTMLElement) items?.scrollTo({ left: item.offsetLeft - items.offsetLeft });
  };
  return (
    <section className="entry" aria-label={t('Before you begin')} data-testid="entry">
      <p className="eyebrow">
        {t('Before you begin: {terms, plural, one {# word} other {# words}}, one minute', {
          terms: terms.length,
        })}
      </p>
      <ul className="entry-names">
        {terms.map((term, i) => (
          <li key={term.name}>
            <button type="button" className="link" onClick={() => bring(i)}>
              {term.name}
            </button>
          </li>
        ))}
      </ul>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so keys must reach it */}
      <ul ref={list} className="entry-cards" tabIndex={0} aria-label={t('Words and drawings')}>
        {terms.map((term) => (
          <li key={term.name}>
            <Drawing svg={lesson.drawings[term.name] ?? ''} />
            <p>
              <b>{term.name}</b> {term.says}
            </p>
          </li>
        ))}
      </ul>
      {mail && (
        <p className="entry-mail small quiet" data-testid="entry-mail">
          {rich('It began with a mail of {author}, <time>{date}</time>: {url}', {
            author: mail.author,
            date: dateWords(mail.date),
            time: (words) => <time dateTime={mail.date}>{words}</time>,
            url: mail.url ? (
              <a href={mail.url}>{mail.subject}</a>
            ) : (
              rich('<q>{subject}</q> (we know of no archive with an address for it)', {
                subject: mail.subject,
                q: (words) => <q>{words}</q>,
              })
            ),
          })}
        </p>
      )}
    </section>
  );
});
Entry.displayName = 'Entry';
