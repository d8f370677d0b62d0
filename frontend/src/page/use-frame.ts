// SPDX-License-Identifier: GPL-2.0-or-later
/** The bare page takes play, pause and a moment from the page that frames it. */

import { useEffect, useRef } from 'react';
import { isFrameMessage, tag } from '../component/frame-messages.ts';
import type { Playback } from '../playback/hooks.tsx';

/** @param ready the run is there, and the viewer may go about in it */
export function useFrame(playback: Playback, ready: boolean): void {
  const latest = useRef(playback);
  latest.current = playback;
  useEffect(() => {
    if (!ready || parent === window) return undefined;
    const take = ({ source, data }: MessageEvent<unknown>) => {
      if (source !== parent || !isFrameMessage(data)) return;
      const now = latest.current;
      if (data.act === 'seek') now.seek(data.at_ms * 1e6);
      if (data.act === 'pause') now.pause();
      if (data.act === 'play' && now.state.mode === 'paused') now.toggle();
    };
    addEventListener('message', take);
    parent.postMessage({ kind: tag, act: 'ready' }, '*');
    return () => removeEventListener('message', take);
  }, [ready]);
}
