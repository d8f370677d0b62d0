// SPDX-License-Identifier: GPL-2.0-or-later
/** The beginning of a class: what the lesson asks, who wrote the mail, and its words with their drawings. */

import { rich } from '../../base/lang/t.ts';
import { dateWords } from '../../panels/discussion.tsx';
import { Drawing } from '../../panels/terms/terms.tsx';
import type { Lesson } from '../../protocol/lesson.ts';

interface Props {
  readonly lesson: Lesson;
  readonly terms: readonly string[];
  readonly mail: boolean;
}

export function WordsSlide({ lesson, terms, mail }: Props) {
  const shown = terms.flatMap((name) => lesson.terms.find((term) => term.name === name) ?? []);
  const first = Object.values(lesson.mails)[0];
  return (
    <div className="words-slide" data-testid="words">
      {mail && first && (
        <p className="words-mail" data-testid="words-mail">
          {rich('It began with a mail of <b>{author}</b>, <time>{date}</time>: <q>{subject}</q>', {
            author: first.author,
            b: (words) => <b>{words}</b>,
            date: dateWords(first.date),
            time: (words) => <time dateTime={first.date}>{words}</time>,
            subject: first.subject,
            q: (words) => <q>{words}</q>,
          })}
        </p>
      )}
      <ul className="words-cards">
        {shown.map((term) => (
          <li key={term.name}>
            <Drawing svg={lesson.drawings[term.name] ?? ''} />
            <h2>{term.name}</h2>
            <p>{term.says}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}
