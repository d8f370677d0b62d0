// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * State of a visitor's change that the page needs before the editor is loaded: whether the pane is open, and the
 * build's progress.
 */

import { createContext, useContext, useEffect, useRef, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { AroundLessonProps } from '../../plugins.tsx';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { ChangedMessage, LaneMessage } from '../../protocol/messages.ts';
import { isOver, isOwn, madeFrom } from '../../store/changes.ts';
import { useChanges, useCommands, useDenied, useLanes, useStore } from '../../store/hooks.tsx';

// The progress of a change in words and stages, and the arms that run beside the changed arm. Pure.

/** Maximum number of lanes of a run. */
const mostLanes = 5;

export const stages = ['queue', 'compile', 'link', 'boot', 'run'] as const;
export type Stage = (typeof stages)[number];

interface Progress {
  readonly stage: Stage;
  readonly words: string;
  readonly over: 'not yet' | 'runs' | 'ended badly';
}

const stageOf: Readonly<Record<ChangedMessage['phase'], Stage>> = {
  refused: 'queue',
  wait: 'queue',
  extract: 'compile',
  patch: 'compile',
  config: 'compile',
  compile: 'compile',
  link: 'link',
  store: 'link',
  built: 'boot',
  failed: 'compile',
};

const plain: Readonly<Record<ChangedMessage['phase'], string>> = {
  refused: t('refused'),
  wait: t('the kernel’s build comes next'),
  extract: t('fetching and unpacking the source'),
  patch: t('applying the change'),
  config: t('configuring'),
  compile: t('compiling'),
  link: t('linking the kernel'),
  store: t('storing the kernel'),
  built: t('built; guest requested'),
  failed: t('the build failed'),
};

/** @param lane the changed arm's lane; null until a run has this lane */
export function progressOf(changed: ChangedMessage | null, lane: LaneMessage | null): Progress {
  if (changed === null) return { stage: 'queue', words: t('sent'), over: 'not yet' };
  const { phase, ahead, done, total } = changed;
  if (phase === 'refused' || phase === 'failed')
    return { stage: stageOf[phase], words: plain[phase], over: 'ended badly' };
  if (phase === 'built' && lane !== null) return bootOf(lane);
  const words =
    phase === 'wait' && ahead > 0
      ? t('waiting for {ahead, plural, one {# build} other {# builds}} ahead', { ahead })
      : phase === 'compile' && total > 0
        ? t('compiling {done} of {total}', { done, total })
        : plain[phase];
  return { stage: stageOf[phase], words, over: 'not yet' };
}

function bootOf(lane: LaneMessage): Progress {
  switch (lane.phase) {
    case 'waiting':
    case 'building':
    case 'booting':
      return { stage: 'boot', words: lane.message || t('its guest boots'), over: 'not yet' };
    case 'ready':
      return { stage: 'boot', words: t('booted, waiting for the other guests'), over: 'not yet' };
    case 'failed':
      return { stage: 'boot', words: t('its guest failed'), over: 'ended badly' };
    default:
      return { stage: 'run', words: t('runs'), over: 'runs' };
  }
}

/** The arms of the run that shows a change: the step's arms, the arm that was changed, and the changed arm last. */
export function armsBeside(scene: Pick<Scene, 'arms'>, base: string, own: string): string[] {
  const others = scene.arms.filter((arm) => !isOwn(arm));
  const most = others.slice(0, mostLanes - 1);
  if (!most.includes(base)) most.splice(Math.min(most.length, mostLanes - 2), 1, base);
  return [...most, own];
}

/** Name of a lane by its position from 1: `third lane`. */
export function laneWord(n: number): string {
  return t(
    '{n, plural, =1 {first} =2 {second} =3 {third} =4 {fourth} =5 {fifth} other {#th}} lane',
    { n },
  );
}

/** A diff from a link or a file. */
export interface Incoming {
  readonly text: string;
  readonly from: 'link' | 'file';
}

export interface Opened {
  readonly arm: string;
  readonly incoming: Incoming | null;
}

/** A change that the viewer has requested to run. */
export interface Asked {
  readonly base: string;
  /** Time of the viewer's click, on this page's clock (performance.now), ms. */
  readonly at: number;
  readonly begun: boolean;
  readonly givenUp: boolean;
}

export interface Door {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly opened: Opened | null;
  readonly asked: Asked | null;
  /** The server's latest message about the last change that the viewer requested to run. */
  readonly changed: ChangedMessage | null;
  readonly progress: Progress | null;
  /** Why no change can run now; empty if a change can run. */
  readonly blocked: string;
  /** Why the arm's text cannot be read now; empty if the text can be read. */
  readonly shut: string;
  readonly open: (arm: string, incoming?: Incoming) => void;
  readonly close: () => void;
  readonly run: (base: string, diff: string) => void;
  readonly giveUp: () => void;
  /** The link to this step, without a moment. */
  readonly address: () => string;
}

const Context = createContext<Door | null>(null);

/** The editor's state on this page; null on pages where nothing can be changed. */
export function useDoor(): Door | null {
  return useContext(Context);
}

/** Narrower pages show either the pane or the lanes. */
const besideLanes = '(min-width: 1001px)';

export function DoorProvider(props: AroundLessonProps) {
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
      // The element may be hidden while the pane is open, so wait until the pane is gone.
      setTimeout(() => to?.isConnected && to.focus());
    },
  };
  return <Context value={door}>{props.children}</Context>;
}

/** Sends a change, follows its build, and starts the run once the kernel is built. */
function useAsked({ lesson, scene, onBegin }: AroundLessonProps, onRun: () => void) {
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
      // Drop messages about an earlier change of this arm.
      store.changes.set(rest.filter((one) => one.lesson !== lesson.slug || one.base !== base));
      setAsked({ base, at: performance.now(), begun: false, givenUp: false });
      change(lesson.slug, base, diff);
    },
    giveUp: () => setAsked((now) => now && { ...now, givenUp: true }),
  };
}

/**
 * The arm that the editor changes if no arm is named: the step's first arm with the role `after`, otherwise the step's
 * first arm with patches.
 */
export function usualArm(lesson: Lesson, scene: Scene): string {
  const named = lesson.arms.filter(({ name }) => scene.arms.includes(name) && !isOwn(name));
  const arm =
    named.find(({ role }) => role === 'after') ??
    named.find(({ patch_texts }) => patch_texts.length > 0) ??
    named[0];
  return arm?.name ?? lesson.arms[0]?.name ?? '';
}

// Reads a file that the viewer dropped or chose.

const mostBytes = 4_000_000;

/** The file's text if it contains a diff; otherwise null. */
export async function readPatch(file: Blob): Promise<string | null> {
  if (file.size > mostBytes) return null;
  const text = await file.text();
  const { diffOf } = await import('./pane/diff.ts');
  return diffOf(text) || null;
}
