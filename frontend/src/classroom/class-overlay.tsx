// SPDX-License-Identifier: GPL-2.0-or-later
/** What each page of a class shows, whatever it shows else: the timer, and who looks over a shoulder. */

import { t } from '../base/lang/t.ts';
import './board.css';
import { useRoom } from './hooks.tsx';
import { WatchedNote, WatchingNote } from './shoulder.tsx';
import { TimerChip } from './timer.tsx';

export function ClassOverlay() {
  const { classroom, room, open } = useRoom();
  if (classroom === null || room === null || !open) return null;
  const of = { classroom, room };
  return (
    <aside className="class-overlay" aria-label={t('Class, on all pages')}>
      <TimerChip {...of} />
      {room.part === 'member' ? <WatchedNote {...of} /> : <WatchingNote {...of} />}
    </aside>
  );
}
