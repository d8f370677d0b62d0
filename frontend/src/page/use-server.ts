// SPDX-License-Identifier: GPL-2.0-or-later
/** All that a lesson page shows of what the server said, and what it may ask of it. */

import {
  useBegun,
  useBuilds,
  useCommands,
  useConnection,
  useControl,
  useHello,
  useHolds,
  useLanes,
  useLost,
  useMeasured,
  usePendingRun,
  useReading,
  useRun,
  useRuns,
  useShownLanes,
} from '../store/hooks.tsx';

export type Server = ReturnType<typeof useServer>;

export function useServer(lesson: string) {
  return {
    run: useRun(),
    pending: usePendingRun(),
    begun: useBegun(),
    lost: useLost().lost,
    reading: useReading(),
    lanes: useLanes(),
    shownLanes: useShownLanes(),
    builds: useBuilds(lesson),
    measured: useMeasured(),
    control: useControl(),
    runs: useRuns(),
    holds: useHolds(),
    connection: useConnection(),
    hello: useHello(),
    commands: useCommands(),
  };
}
