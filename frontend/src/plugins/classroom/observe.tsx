// SPDX-License-Identifier: GPL-2.0-or-later
/** Observing a member's page: the texts and buttons for the member's consent and the instructor's way back. */

import type { ReactNode } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { ClassWatching, Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
}

/** A note on each page of a member whom the instructor observes, or has asked for consent. */
export function WatchedNote({ classroom, room }: Props) {
  const phase = room.board.watched?.phase ?? 'none';
  return (
    <div role="status" className="class-status">
      {phase !== 'none' && (
        <div className="class-chip" data-phase={phase} data-testid="class-watched">
          <p>
            {phase === 'asking'
              ? rich(
                  '<b>May the instructor observe your page?</b> The instructor sees its step, moment, panes and knobs, and nothing that you type. You can stop this at any moment.',
                  { b: (words) => <b>{words}</b> },
                )
              : rich(
                  '<b>The instructor is observing your page:</b> its step, moment, panes and knobs, and nothing that you type.',
                  { b: (words) => <b>{words}</b> },
                )}
          </p>
          <p className="class-buttons">
            {phase === 'asking' && (
              <button
                type="button"
                className="button"
                onClick={() => classroom.consent(true)}
                data-testid="class-consent"
              >
                {t('yes, in this class')}
              </button>
            )}
            <button
              type="button"
              className="button"
              data-strong={phase === 'watched' ? '' : undefined}
              onClick={() => classroom.consent(false)}
              data-testid="class-refuse"
            >
              {phase === 'asking' ? t('no') : t('stop it')}
            </button>
          </p>
        </div>
      )}
    </div>
  );
}

/** The sentence on the instructor's page; empty if there is nothing to say. */
export function watchingWords({ phase, name }: Pick<ClassWatching, 'phase' | 'name'>): string {
  switch (phase) {
    case 'asking':
      return t('{name} is being asked whether you may observe them.', { name });
    case 'watched':
      return t('You are observing {name}’s page. The class does not see that page.', { name });
    case 'refused':
      return t('{name} does not want to be observed, or no longer wants to be observed.', { name });
    case 'away':
      return t('{name} has left the class.', { name });
    case 'none':
      return '';
  }
}

export function WatchingNote({ classroom, room }: Props) {
  const { watching } = room.board;
  const phase = watching?.phase ?? 'none';
  return (
    <div role="status" className="class-status">
      {watching !== null && phase !== 'none' && (
        <div className="class-chip" data-phase={phase} data-testid="class-watching">
          <p>{watchingWords(watching)}</p>
          <p className="class-buttons">
            <button
              type="button"
              className="button"
              data-strong={phase === 'watched' ? '' : undefined}
              onClick={() => classroom.watch('')}
              data-testid="class-watch-end"
            >
              {phase === 'watched'
                ? t('back to my own place (g)')
                : phase === 'asking'
                  ? t('do not ask')
                  : t('close')}
            </button>
          </p>
        </div>
      )}
    </div>
  );
}

/** Buttons in a member's panel that give or withdraw consent, once the instructor has asked for it. */
export function ConsentChoice({ classroom, room }: Props) {
  const allowed = room.board.watched?.allowed ?? null;
  if (allowed === null) return null;
  const button = (words: ReactNode) => (
    <button
      type="button"
      className="link"
      onClick={() => classroom.consent(!allowed)}
      data-testid="class-consent-change"
    >
      {words}
    </button>
  );
  return (
    <p className="small quiet">
      {allowed
        ? rich('The instructor may observe your page in this class. <button>forbid it</button>', {
            button,
          })
        : rich(
            'The instructor may not observe your page in this class. <button>allow it</button>',
            { button },
          )}
    </p>
  );
}
