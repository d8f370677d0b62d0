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

import { Cell } from '../base/signal.ts';
import { useStore } from '../store/hooks.tsx';
import type { Room } from './class-state.ts';
import { Classroom, type Entering } from './classroom.ts';

const Context = createContext<Classroom | null>(null);

/** Owns the class of the page; below a StoreProvider. */
export function ClassroomProvider({ children }: { readonly children: ReactNode }) {
  const store = useStore();
  const [classroom] = useState(() => new Classroom(store));
  useEffect(() => classroom.run(), [classroom]);
  return <Context value={classroom}>{children}</Context>;
}

/** Null where a page has no classes: an exhibit, a test. */
export function useClassroom(): Classroom | null {
  return useContext(Context);
}

const nothing = {
  room: new Cell<Room | null>(null),
  following: new Cell(false),
  entering: new Cell<Entering | null>(null),
  refused: new Cell(''),
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
  const driving = open && room.facts?.driving === true;
  return {
    classroom,
    room,
    entering,
    refused,
    open,
    driving,
    following: open && !driving && wants,
  };
}

export type RoomNow = ReturnType<typeof useRoom>;
