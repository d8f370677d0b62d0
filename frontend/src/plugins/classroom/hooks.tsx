// SPDX-License-Identifier: GPL-2.0-or-later
/** React hooks for the page's class. */

import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { t } from '../../base/lang/t.ts';
import { Cell } from '../../base/signal.ts';
import { siteOf } from '../../base/site.ts';
import type { Key } from '../../controls/keyboard.ts';
import type { Place } from '../../navigation/place.ts';
import type { VisitPlace } from '../../navigation/use-navigation.ts';
import type { Lead } from '../../plugins.tsx';
import { useStore } from '../../store/hooks.tsx';
import { type ClassPlace, type Room, watches } from './class-state.ts';
import { Classroom, type Entering } from './classroom.ts';
import { codeIn } from './membership.ts';

const Context = createContext<Classroom | null>(null);
const Visiting = createContext<VisitPlace>(() => {});

/** Holds the class of the page; must be inside a StoreProvider. */
export function ClassroomProvider({
  visit,
  place,
  children,
}: {
  readonly visit: VisitPlace;
  readonly place: Place;
  readonly children: ReactNode;
}) {
  // Frames, speaker notes and handouts are never in a class.
  const off = place.embed || place.present === 'notes' || place.present === 'handout';
  const store = useStore();
  const [classroom] = useState(
    () => new Classroom(store, siteOf() === null ? codeIn(location.search) : null),
  );
  useEffect(() => (off ? undefined : classroom.run()), [classroom, off]);
  return (
    <Context value={off ? null : classroom}>
      <Visiting value={visit}>{children}</Visiting>
    </Context>
  );
}

/** The page's class; null on pages without classes, such as an exhibit or a test. */
export function useClassroom(): Classroom | null {
  return useContext(Context);
}

/** A function that opens a position in a lesson as a link would. */
export function useVisit(): VisitPlace {
  return useContext(Visiting);
}

const nothing = {
  room: new Cell<Room | null>(null),
  following: new Cell(false),
  entering: new Cell<Entering | null>(null),
  refused: new Cell(''),
  aside: new Cell<ClassPlace | null>(null),
};

function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.get);
}

/** The current state of the class, and whether this page follows its leader. */
export function useRoom() {
  const classroom = useContext(Context);
  const cells = classroom ?? nothing;
  const room = useCell<Room | null>(cells.room);
  const wants = useCell<boolean>(cells.following);
  const entering = useCell<Entering | null>(cells.entering);
  const refused = useCell<string>(cells.refused);
  const open = room?.facts?.open === true;
  const aside = useCell<ClassPlace | null>(cells.aside);
  /** Whether the instructor's page shows a member's position, or is returning from it. */
  const elsewhere = open && (watches(room) || aside !== null);
  const driving = open && room.facts?.driving === true && !elsewhere;
  const following = elsewhere || (open && !driving && wants);
  /** Whether this page follows the leader, or will do so once it has rejoined the class after a reload. */
  const led = (following && !elsewhere) || (room === null && entering?.how === 'back');
  return { classroom, room, entering, refused, open, driving, following, led, aside };
}

export type RoomNow = ReturnType<typeof useRoom>;

const follow: Key = { act: 'follow', keys: ['g'], shown: 'g', what: t('follow the class again') };

export function useClassLead(): Lead {
  const { led, open, classroom } = useRoom();
  return { led, key: open ? follow : null, follow: () => classroom?.followAgain() };
}
