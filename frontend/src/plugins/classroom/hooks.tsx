// SPDX-License-Identifier: GPL-2.0-or-later
/** How React reads the class of the page. */

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

/** Owns the class of the page; below a StoreProvider. */
export function ClassroomProvider({
  visit,
  place,
  children,
}: {
  readonly visit: VisitPlace;
  readonly place: Place;
  readonly children: ReactNode;
}) {
  // This page is in no class: it is a frame, or what a speaker reads.
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

/** Null where a page has no classes: an exhibit, a test. */
export function useClassroom(): Classroom | null {
  return useContext(Context);
}

/** Goes to a place as to a link. */
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

/** The class as it stands, and whether this page follows its driver. */
export function useRoom() {
  const classroom = useContext(Context);
  const cells = classroom ?? nothing;
  const room = useCell<Room | null>(cells.room);
  const wants = useCell<boolean>(cells.following);
  const entering = useCell<Entering | null>(cells.entering);
  const refused = useCell<string>(cells.refused);
  const open = room?.facts?.open === true;
  const aside = useCell<ClassPlace | null>(cells.aside);
  /** This page of the instructor is where a member is, or on its way back from there. */
  const elsewhere = open && (watches(room) || aside !== null);
  const driving = open && room.facts?.driving === true && !elsewhere;
  const following = elsewhere || (open && !driving && wants);
  /** It follows, or will, once it has come back after a reload. */
  const led = (following && !elsewhere) || (room === null && entering?.how === 'back');
  return { classroom, room, entering, refused, open, driving, following, led, aside };
}

export type RoomNow = ReturnType<typeof useRoom>;

const follow: Key = { act: 'follow', keys: ['g'], shown: 'g', what: t('follow the class again') };

export function useClassLead(): Lead {
  const { led, open, classroom } = useRoom();
  return { led, key: open ? follow : null, follow: () => classroom?.followAgain() };
}
