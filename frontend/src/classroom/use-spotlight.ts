// SPDX-License-Identifier: GPL-2.0-or-later
/** The spotlight of a class: the driver chooses a mark or a lane, and every page shows it for ten seconds. */

import { useEffect, useState } from 'react';
import type { Mark, RunIndex } from '../derive/types.ts';
import type { Spotlight } from '../views/contract.ts';
import { useRoom } from './hooks.tsx';
import { markAt, type Spot, spotMs, spotOf } from './spot.ts';

/** The spotlight of others, until it has stood for its time. */
function useReceived(spot: Spot | null, stands: boolean): Spot | null {
  const text = JSON.stringify(spot);
  const [over, setOver] = useState('');
  useEffect(() => {
    // Gone, or another one: what was over may be shown again.
    setOver('');
    if (!stands) return undefined;
    const timer = setTimeout(() => setOver(text), spotMs);
    return () => clearTimeout(timer);
  }, [text, stands]);
  return over === text ? null : spot;
}

export function useSpotlight(index: RunIndex | null) {
  const { room, driving, open } = useRoom();
  const [own, setOwn] = useState<Spot | null>(null);
  const [picking, setPicking] = useState(false);
  useEffect(() => {
    if (own === null) return undefined;
    const timer = setTimeout(() => setOwn(null), spotMs);
    return () => clearTimeout(timer);
  }, [own]);
  useEffect(() => {
    if (driving) return;
    setOwn(null);
    setPicking(false);
  }, [driving]);
  const sent = !driving && open ? (room?.place?.spotlight ?? null) : null;
  const received = useReceived(sent, sent !== null);
  const spot = driving ? own : received;
  const shown: Spotlight | null = spot && { arm: spot.arm, mark: markAt(index, spot) };
  return {
    spot: own,
    spotlight: shown,
    picking,
    setPicking,
    /** A lane, or null: nothing any more. */
    light: (arm: string | null) => {
      setPicking(false);
      setOwn(arm === null ? null : { arm, row: null, t_ns: null });
    },
    /** Takes a mark that was clicked; false: none is being chosen. */
    pick: (mark: Mark | null): boolean => {
      if (!picking || mark === null) return false;
      setPicking(false);
      setOwn(spotOf(mark));
      return true;
    },
  };
}
