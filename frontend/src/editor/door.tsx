// SPDX-License-Identifier: GPL-2.0-or-later
/** What the page knows of a visitor's change while no editor is loaded: whether it is open, and how far a build is. */

import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { ChangedMessage } from '../protocol/messages.ts';
import { isOver, isOwn, madeFrom } from '../store/changes.ts';
import { useChanges, useCommands, useDenied, useLanes, useStore } from '../store/hooks.tsx';
import { armsBeside, type Progress, progressOf } from './words.ts';

/** A diff that came from outside. */
export interface Incoming {
  readonly text: string;
  readonly from: 'link' | 'file';
}

export interface Opened {
  readonly arm: string;
  readonly incoming: Incoming | null;
}

/** A change that the viewer asked to run. */
export interface Asked {
  readonly base: string;
  /** Page's time of the click, ms. */
  readonly at: number;
  readonly begun: boolean;
  readonly givenUp: boolean;
}

export interface Door {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly opened: Opened | null;
  readonly asked: Asked | null;
  /** The server's newest word of the change that was asked for last. */
  readonly changed: ChangedMessage | null;
  readonly progress: Progress | null;
  /** Why no change can run now; empty: one can. */
  readonly blocked: string;
  /** Why not even the text can be read now; empty: it can. */
  readonly shut: string;
  readonly open: (arm: string, incoming?: Incoming) => void;
  readonly close: () => void;
  readonly run: (base: string, diff: string) => void;
  readonly giveUp: () => void;
  /** The link to this step, without a moment. */
  readonly address: () => string;
}

const Context = createContext<Door | null>(null);

/** Null: nothing can be changed here. */
export function useDoor(): Door | null {
  return useContext(Context);
}

export interface DoorProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** Why no live run can begin; empty: one can. */
  readonly blocked: string;
  /** Why there is no server to ask; empty: there is one. */
  readonly shut: string;
  readonly onBegin: (arms: readonly string[]) => void;
  readonly address: () => string;
  readonly children: ReactNode;
}

/** Narrower pages show the pane or the lanes. */
const besideLanes = '(min-width: 1001px)';

export function DoorProvider(props: DoorProps) {
  const { lesson, scene } = props;
  const noChange = useDenied('change');
  const noRun = useDenied('run');
  const [opened, setOpened] = useState<Opened | null>(null);
  const back = useRef<HTMLElement | null>(null);
  const asking = useAsked(props, () => {
    if (typeof matchMedia === 'function' && !matchMedia(besideLanes).matches) setOpened(null);
  });
  const door: Door = {
    ...{ lesson, scene, opened, ...asking },
    blocked: noChange || noRun || props.blocked,
    shut: props.shut,
    address: props.address,
    open: (name, incoming) => {
      const arm = lesson.arms.find((one) => one.name === name);
      const base = (arm && madeFrom(lesson, arm)?.name) ?? name;
      if (opened === null) back.current = document.activeElement as HTMLElement | null;
      setOpened({ arm: base, incoming: incoming ?? null });
    },
    close: () => {
      setOpened(null);
      const to = back.current;
      // It may be hidden while the pane is there.
      setTimeout(() => to?.isConnected && to.focus());
    },
  };
  return <Context value={door}>{props.children}</Context>;
}

/** Sends a change, follows its build, and begins the run once the kernel is there. */
function useAsked({ lesson, scene, onBegin }: DoorProps, onRun: () => void) {
  const store = useStore();
  const changes = useChanges();
  const lanes = useLanes();
  const { change, dropChange } = useCommands();
  const [asked, setAsked] = useState<Asked | null>(null);
  const changed =
    changes.find((one) => one.lesson === lesson.slug && one.base === asked?.base) ?? null;
  const there = changed !== null && lesson.arms.some(({ name }) => name === changed.arm);
  useEffect(() => {
    if (asked === null || changed === null) return;
    if (asked.givenUp) {
      if (changed.arm !== '' && !isOver(changed)) dropChange(changed.arm);
      setAsked(null);
    } else if (!asked.begun && changed.phase === 'built' && there) {
      setAsked({ ...asked, begun: true });
      onBegin(armsBeside(scene, asked.base, changed.arm));
      onRun();
    }
  }, [asked, changed, there, scene, onBegin, onRun, dropChange]);
  const lane = asked?.begun ? (lanes.find(({ arm }) => arm === changed?.arm) ?? null) : null;
  return {
    asked: asked?.givenUp ? null : asked,
    changed: asked === null ? null : changed,
    progress: asked === null || asked.givenUp ? null : progressOf(changed, lane),
    run: (base: string, diff: string) => {
      const rest = store.changes.get();
      // What was said of an earlier change of this arm is no answer to this one.
      store.changes.set(rest.filter((one) => one.lesson !== lesson.slug || one.base !== base));
      setAsked({ base, at: performance.now(), begun: false, givenUp: false });
      change(lesson.slug, base, diff);
    },
    giveUp: () => setAsked((now) => now && { ...now, givenUp: true }),
  };
}

/** The arm that is changed when none is named: the step's first one with the change of the lesson, else with a patch. */
export function usualArm(lesson: Lesson, scene: Scene): string {
  const named = lesson.arms.filter(({ name }) => scene.arms.includes(name) && !isOwn(name));
  const arm =
    named.find(({ role }) => role === 'after') ??
    named.find(({ patch_texts }) => patch_texts.length > 0) ??
    named[0];
  return arm?.name ?? lesson.arms[0]?.name ?? '';
}
