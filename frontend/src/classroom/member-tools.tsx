// SPDX-License-Identifier: GPL-2.0-or-later
/** What the instructor may do with a member of the roster, but for the wheel. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { off } from '../ui/parts.tsx';
import type { RosterMember } from './class-state.ts';
import type { Classroom } from './classroom.ts';

interface Props {
  readonly classroom: Classroom;
  readonly member: RosterMember;
}

export function MemberTools({ classroom, member: { member, name, connected } }: Props) {
  const [sure, setSure] = useState(false);
  if (sure)
    return (
      <span className="class-tools">
        <button
          type="button"
          className="link"
          onClick={() => classroom.remove(member)}
          data-testid="class-remove-sure"
        >
          {t('delete {name} and all answers', { name })}
        </button>
        <button type="button" className="link" onClick={() => setSure(false)}>
          {t('cancel')}
        </button>
      </span>
    );
  return (
    <span className="class-tools">
      <button
        type="button"
        className="link"
        aria-label={t('look over the shoulder of {name}', { name })}
        onClick={() => classroom.watch(member)}
        {...off(!connected && t('{name} is away.', { name }))}
      >
        {t('look over the shoulder')}
      </button>
      <button
        type="button"
        className="link"
        aria-label={t('delete the data of {name}', { name })}
        onClick={() => setSure(true)}
      >
        {t('delete')}
      </button>
    </span>
  );
}
