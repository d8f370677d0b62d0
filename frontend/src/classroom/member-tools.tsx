// SPDX-License-Identifier: GPL-2.0-or-later
/** What the instructor may do with a member of the roster, but for the wheel. */

import { useState } from 'react';
import { off } from '../ui/off.ts';
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
          delete {name} and all answers
        </button>
        <button type="button" className="link" onClick={() => setSure(false)}>
          cancel
        </button>
      </span>
    );
  return (
    <span className="class-tools">
      <button
        type="button"
        className="link"
        aria-label={`look over the shoulder of ${name}`}
        onClick={() => classroom.watch(member)}
        {...off(!connected && `${name} is away.`)}
      >
        look over the shoulder
      </button>
      <button
        type="button"
        className="link"
        aria-label={`delete the data of ${name}`}
        onClick={() => setSure(true)}
      >
        delete
      </button>
    </span>
  );
}
