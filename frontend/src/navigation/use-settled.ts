// SPDX-License-Identifier: GPL-2.0-or-later
/** Whether all of a run has come, also where no message says so. */

import { useEffect, useState } from 'react';
import type { RunIndex } from '../derive/types.ts';

/** Where no message says when a recording is whole: it is when none came for so long. */
const quietMs = 250;

/** True once a recording is whole, or the run is live and has some events. */
export function useSettled(index: RunIndex | null): boolean {
  const id = index?.runId ?? null;
  const [settled, setSettled] = useState<string | null>(null);
  const version = index?.version ?? -1;
  const some = index?.lanes.some((lane) => lane.spans.length > 0 || lane.watermark > 0) ?? false;
  const live = index?.live ?? false;
  const reading = index?.reading ?? 'unknown';
  useEffect(() => {
    if (reading !== 'unknown') return;
    if (id === null || !some || version < 0) return;
    if (live) {
      setSettled(id);
      return;
    }
    const timer = setTimeout(() => setSettled(id), quietMs);
    return () => clearTimeout(timer);
  }, [id, some, live, version, reading]);
  return reading === 'whole' || (reading === 'unknown' && id !== null && settled === id);
}
