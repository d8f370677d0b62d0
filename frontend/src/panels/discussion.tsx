// SPDX-License-Identifier: GPL-2.0-or-later
/** End of a lesson: what others wrote about the patch, what happened afterwards, and where to try each claim. */

import { memo, useId, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import { frontPage, type Place, writePlace } from '../navigation/place.ts';
import type { Lesson, Remark, Source, Trial } from '../protocol/lesson.ts';
import { dateTag } from '../ui/words.ts';
import { Inline } from './prose.tsx';
import { Drawing } from './terms/terms.tsx';

interface Props {
  readonly slug: string;
  readonly discussion: readonly Remark[];
}

/** The discussion of the patch, memoised because it is long. On narrow screens the discussion starts collapsed. */
export const Discussion = memo(({ slug, discussion }: Props) => {
  const [open] = useState(() => !matchMedia('(max-width: 1000px)').matches);
  if (discussion.length === 0) return null;
  return (
    <details className="discussion" open={open} data-testid="discussion">
      <summary>
        <h3>{t('Questions and their outcome')}</h3>
      </summary>
      <ol>
        {discussion.map((remark) => (
          <RemarkEntry key={remark.said} slug={slug} remark={remark} />
        ))}
      </ol>
    </details>
  );
});
Discussion.displayName = 'Discussion';

function RemarkEntry({ slug, remark }: { readonly slug: string; readonly remark: Remark }) {
  const [first, ...others] = remark.sources;
  return (
    <li data-testid="remark">
      {first && <Byline source={first} />}
      <p className="remark-said">
        <Inline text={remark.said} />
      </p>
      {remark.became && (
        <p className="remark-became">
          <Inline text={remark.became} />
        </p>
      )}
      {others.map((source) => (
        <p className="remark-also" key={`${source.subject} ${source.link} ${source.commit}`}>
          {source.by}
          {source.date && `, ${dateWords(source.date)}`}: <Cited source={source} />
        </p>
      ))}
      <p className="remark-try">
        {remark.tried.map((trial) => (
          <a key={trial.title} href={trialAddress(slug, trial, location.search)}>
            {trial.title}
          </a>
        ))}
        {remark.untried && (
          <span>{t('Cannot be tried here: {untried}', { untried: remark.untried })}</span>
        )}
      </p>
    </li>
  );
}

/** A message's author and date, followed by what they wrote. */
function Byline({ source }: { readonly source: Source }) {
  return (
    <>
      <p className="remark-by">
        <b>{source.by}</b>
        {source.date && <time dateTime={source.date}>{dateWords(source.date)}</time>}
      </p>
      <p className="remark-source">
        <Cited source={source} />
      </p>
    </>
  );
}

/** The message's subject, linked if an archive has the message, and the commit. */
function Cited({ source: { subject, link, commit } }: { readonly source: Source }) {
  return (
    <>
      {link ? <a href={link}>{subject}</a> : subject}
      {commit && (
        <>
          {' '}
          <a href={commitAddress(commit)}>
            <code>{commit.slice(0, 12)}</code>
          </a>
        </>
      )}
    </>
  );
}

export function commitAddress(id: string): string {
  return `https://git.kernel.org/torvalds/c/${id}`;
}

/**
 * Address of a lesson page with the arms and knobs of a trial; `search` contains unrelated parameters, which are kept.
 */
export function trialAddress(slug: string, trial: Trial, search: string): string {
  const place: Place = {
    ...frontPage,
    lesson: slug,
    step: trial.step,
    arms: trial.arms.length > 0 ? trial.arms : null,
    knobs: Object.keys(trial.params).length > 0 ? trial.params : null,
    workload: trial.workload,
    clock: trial.clock,
    patch: trial.patch,
    side: trial.patch === null ? null : 'patch',
  };
  return writePlace(place, search);
}

/** Format "2023-06-09" as "9 June 2023"; the date may also be a year and month, or a year. */
export function dateWords(date: string): string {
  const [year, month, day] = date.split('-');
  if (month === undefined) return date;
  const at = new Date(`${year}-${month}-${day ?? '01'}T00:00:00Z`);
  return at.toLocaleDateString(dateTag(), {
    ...(day !== undefined && { day: 'numeric' }),
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

// Start of a lesson: the author of the mail, and the terms that learners should know. A term opens its drawing.

export const Entry = memo(({ lesson }: { readonly lesson: Lesson }) => {
  const [open, setOpen] = useState('');
  const card = useId();
  const terms = lesson.terms.filter((term) => term.entry);
  const mail = Object.values(lesson.mails)[0];
  if (terms.length === 0) return null;
  const shown = terms.find((term) => term.name === open);
  return (
    <section className="entry" aria-label={t('Before you begin')} data-testid="entry">
      <p className="eyebrow">
        {t('Before you begin: {terms, plural, one {# word} other {# words}}, one minute', {
          terms: terms.length,
        })}
      </p>
      <ul className="entry-names">
        {terms.map(({ name }) => (
          <li key={name}>
            <button
              type="button"
              className="link"
              aria-expanded={name === open}
              aria-controls={card}
              onClick={() => setOpen(name === open ? '' : name)}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
      <div id={card} className="entry-card" hidden={!shown}>
        {shown && (
          <>
            <Drawing svg={lesson.drawings[shown.name] ?? ''} />
            <p>
              <b>{shown.name}</b> {shown.says}
            </p>
          </>
        )}
      </div>
      {mail && (
        <p className="entry-mail small quiet" data-testid="entry-mail">
          {rich('This lesson began with a mail from {author}, <time>{date}</time>: {url}', {
            author: mail.author,
            date: dateWords(mail.date),
            time: (words) => <time dateTime={mail.date}>{words}</time>,
            url: mail.url ? (
              <a href={mail.url}>{mail.subject}</a>
            ) : (
              rich('<q>{subject}</q> (we know of no archive that contains this mail)', {
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
