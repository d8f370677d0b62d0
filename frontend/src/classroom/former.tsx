// SPDX-License-Identifier: GPL-2.0-or-later
/** Reports of the classes that this browser has started, in the dialog that starts the next one. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { check } from '../protocol/check.ts';
import { readClassLine } from '../protocol/contract.checks.gen.ts';
import type { ClassLine } from '../protocol/contract.gen.ts';
import { reportHref } from '../report/address.ts';
import { dateTag } from '../ui/words.ts';

/** The newest alone. */
const most = 12;

async function former(): Promise<readonly ClassLine[]> {
  const answer = await fetch('api/classes', { signal: AbortSignal.timeout(20_000) });
  const tree: unknown = answer.ok ? await answer.json() : [];
  const lines = Array.isArray(tree) ? tree.map((one) => check(readClassLine, one)) : [];
  return lines.flatMap((one) => (one.ok ? [one.value] : [])).slice(0, most);
}

export function FormerClasses() {
  const [lines, setLines] = useState<readonly ClassLine[] | null>(null);
  const load = () => former().then(setLines, () => setLines([]));
  return (
    <details
      className="class-poll"
      onToggle={(event) => {
        if (event.currentTarget.open && lines === null) void load();
      }}
    >
      <summary data-testid="class-former">{t('reports of your former classes')}</summary>
      {lines?.length === 0 && <p className="quiet small">{t('This browser has started none.')}</p>}
      <ul className="class-former small">
        {lines?.map(({ class_id, title, started_at, members }) => (
          <li key={class_id}>
            <a href={reportHref(class_id)} target="_blank" rel="noreferrer">
              {title}
            </a>{' '}
            <span className="quiet">
              {new Date(started_at).toLocaleDateString(dateTag(), { dateStyle: 'medium' })},{' '}
              {members}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
