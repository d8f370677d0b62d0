// SPDX-License-Identifier: GPL-2.0-or-later
/** React hooks that read the store. There is one hook per part, so that event data never become React state. */

import {
  createContext,
  type ReactNode,
  useContext,
  useMemo,
  useRef,
  useSyncExternalStore,
} from 'react';
import { must } from '../base/assert.ts';
import type { Cell, Signal } from '../base/signal.ts';
import type { Lesson, NumbersLesson } from '../protocol/lesson.ts';
import type {
  ActionName,
  BuildMessage,
  ChangedMessage,
  ControlMessage,
  ErrorMessage,
  GapMessage,
  HeldMessage,
  HelloMessage,
  JudgedMessage,
  LaneMessage,
  LineMessage,
  MeasuredMessage,
  MetricsMessage,
  ReadingMessage,
  RunChoice,
  RunMessage,
  RunsMessage,
} from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';
import type { LaneStore, Loss } from './lane.ts';
import type { Store } from './store.ts';

const Context = createContext<Store | null>(null);

export function StoreProvider({ store, children }: { store: Store; children: ReactNode }) {
  return <Context value={store}>{children}</Context>;
}

export function useStore(): Store {
  return must(useContext(Context), 'StoreProvider');
}

function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.get);
}

export function useConnection(): Connection {
  return useCell(useStore().connection);
}

export function useHello(): HelloMessage | null {
  return useCell(useStore().hello);
}

const never = () => () => {};

/** The server's reason for denying this visitor an action; empty if the action is allowed or the page has no server. */
export function useDenied(action: ActionName): string {
  const hello = useContext(Context)?.hello;
  return useSyncExternalStore(hello?.subscribe ?? never, () => hello?.get()?.denied[action] ?? '');
}

export function useLesson(): Lesson | null {
  return useCell(useStore().lesson);
}

/** The open lesson, if it is a lesson without a view; otherwise null. */
export function useNumbers(): NumbersLesson | null {
  return useCell(useStore().numbers);
}

/** The run whose events the page shows. */
export function useRun(): RunMessage | null {
  return useCell(useStore().run);
}

/** A run that was announced but has no events yet, because kernels are being built or guests are booting. */
export function usePendingRun(): RunMessage | null {
  return useCell(useStore().pending);
}

/** Progress of the recording that is loading; null if no recording is loading. */
export function useReading(): ReadingMessage | null {
  return useCell(useStore().reading);
}

/** Requested runs that will not arrive, by the names used in the requests. */
export function useLost(): {
  readonly lost: ReadonlySet<string>;
  readonly forgive: (id: string) => void;
} {
  const store = useStore();
  const lost = useCell(store.lost);
  return useMemo(() => ({ lost, forgive: (id) => store.forgive(id) }), [store, lost]);
}

export function useLanes(): readonly LaneMessage[] {
  return useCell(useStore().lanes);
}

/** Lanes of the run whose events the page shows, even while another run is being prepared. */
export function useShownLanes(): readonly LaneMessage[] {
  const store = useStore();
  const lanes = useLanes();
  const run = useRun();
  const version = useEventsVersion();
  return useMemo(() => {
    const shown = version >= 0 && run !== null ? store.shown() : null;
    const states = shown?.ordered().map((lane) => lane.state) ?? lanes;
    return states.filter((state) => state !== null);
  }, [store, lanes, run, version]);
}

export function useLane(arm: string): LaneMessage | null {
  return useLanes().find((lane) => lane.arm === arm) ?? null;
}

/** Held lanes of the newest run. The visitor who has control decides which lanes are held. */
export function useHolds(): readonly HeldMessage[] {
  return useCell(useStore().holds);
}

/**
 * Running and finished kernel builds of this lesson. `lesson` is needed because arms of two lessons can have the same
 * name.
 */
export function useBuilds(lesson: string): readonly BuildMessage[] {
  const builds = useCell(useStore().builds);
  return useMemo(() => builds.filter((build) => build.lesson === lesson), [builds, lesson]);
}

/** This visitor's changes: the newest state of each changed arm. */
export function useChanges(): readonly ChangedMessage[] {
  return useCell(useStore().changes);
}

/** The newest judgement of a challenge. The challenge may belong to another lesson. */
export function useJudged(): JudgedMessage | null {
  return useCell(useStore().judged);
}

export function useMeasured(): MeasuredMessage | null {
  return useCell(useStore().measured);
}

export function useControl(): ControlMessage | null {
  return useCell(useStore().control);
}

/** Live runs on the server. `at` is the time at which this message reached the page. */
export function useRuns(): (RunsMessage & { readonly at: number }) | null {
  return useCell(useStore().runs);
}

/** The most recent live run that this page requested. */
export function useBegun(): string | null {
  return useCell(useStore().begun);
}

export function useErrors(): {
  readonly list: readonly ErrorMessage[];
  readonly dismiss: (error: ErrorMessage) => void;
} {
  const store = useStore();
  const list = useCell(store.errors);
  return useMemo(() => ({ list, dismiss: (error) => store.dismiss(error) }), [store, list]);
}

const tellEveryMs = 100;

/** Subscribe to a signal. The listener is called at most ten times a second, which is enough for text. */
export function calmly(signal: Signal): (listener: () => void) => () => void {
  return (listener) => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const off = signal.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = null;
        listener();
      }, tellEveryMs);
    });
    return () => {
      off();
      if (timer !== null) clearTimeout(timer);
    };
  };
}

function useOfLane<T>(signal: Signal, arm: string, read: (lane: LaneStore) => T, none: T): T {
  const store = useStore();
  const subscribe = useMemo(() => calmly(signal), [signal]);
  return useSyncExternalStore(subscribe, () => {
    const lane = store.shown()?.lanes.get(arm);
    return lane === undefined ? none : read(lane);
  });
}

export function useMetrics(arm: string): MetricsMessage | null {
  return useOfLane(useStore().figures, arm, (lane) => lane.metrics, null);
}

const noLines: readonly LineMessage[] = [];

export function useLines(arm: string): readonly LineMessage[] {
  return useOfLane(useStore().figures, arm, (lane) => lane.lines, noLines);
}

const noLosses: readonly Loss[] = [];
const noGaps: readonly GapMessage[] = [];

/**
 * Data that a lane's picture lacks: events lost in the guest, and batches that the server did not send to this browser.
 */
export function useLoss(arm: string): {
  readonly losses: readonly Loss[];
  readonly gaps: readonly GapMessage[];
} {
  const { events } = useStore();
  const losses = useOfLane(events, arm, (lane) => lane.losses, noLosses);
  const gaps = useOfLane(events, arm, (lane) => lane.gaps, noGaps);
  return useMemo(() => ({ losses, gaps }), [losses, gaps]);
}

/** A number that increases when columns of the shown run change. It changes at most ten times a second. */
export function useEventsVersion(): number {
  const store = useStore();
  const subscribe = useMemo(() => calmly(store.events), [store]);
  const last = useRef<{ id: string | null; version: number; n: number }>({
    id: null,
    version: -1,
    n: 0,
  });
  return useSyncExternalStore(subscribe, () => {
    const run = store.shown();
    const id = run?.id ?? null;
    const version = run?.version ?? 0;
    if (last.current.id !== id || last.current.version !== version) {
      last.current = { id, version, n: last.current.n + 1 };
    }
    return last.current.n;
  });
}

export interface Commands {
  /** Open a run. Without `run`, open the recording that fits the step. */
  readonly open: (lesson: string, run?: string | null, step?: string | null) => void;
  readonly start: (choice: RunChoice) => void;
  readonly act: (name: string, value: number) => void;
  /** Hold each guest after `after` more accesses. If `on` is false, let the guests continue. */
  readonly hold: (on: boolean, after: number) => void;
  /** Stop a run, or cancel a queued run. */
  readonly stop: (run: string) => void;
  readonly again: () => void;
  readonly measure: (choice: RunChoice, repeats?: number) => void;
  readonly control: (take: boolean) => void;
  /** Build an arm with an additional change. Only this visitor can use the new arm. */
  readonly change: (lesson: string, arm: string, diff: string) => void;
  /** Discard a visitor's arm. */
  readonly dropChange: (arm: string) => void;
}

export function useCommands(): Commands {
  const store = useStore();
  return useMemo(
    () => ({
      open: (lesson, run, step) =>
        store.command({
          type: 'open',
          lesson,
          ...(run == null ? {} : { run }),
          ...(step == null ? {} : { step }),
        }),
      start: (choice) => store.command({ type: 'start', ...choice }),
      act: (name, value) => store.command({ type: 'act', name, value }),
      hold: (on, after) => store.command({ type: 'hold', on, after }),
      stop: (run) => store.command({ type: 'stop', run }),
      again: () => store.command({ type: 'again' }),
      measure: (choice, repeats) =>
        store.command({
          type: 'measure',
          ...choice,
          ...(repeats === undefined ? {} : { repeats }),
        }),
      control: (take) => store.command({ type: 'control', take }),
      change: (lesson, arm, diff) => store.command({ type: 'change', lesson, arm, diff }),
      dropChange: (arm) => store.command({ type: 'drop_change', arm }),
    }),
    [store],
  );
}
