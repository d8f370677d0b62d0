// SPDX-License-Identifier: GPL-2.0-or-later
/** Playback as the page uses it: its state, and what people do to it. */

import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Direction } from '../derive/jumps.ts';
import { spanOf } from '../derive/moments.ts';
import { claimedPlace } from '../derive/sought.ts';
import type { Alignment, FrameSource, Mark } from '../derive/types.ts';
import type { Scene } from '../protocol/lesson.ts';
import { viewOf } from '../views/registry.ts';
import type { Actor } from './player.ts';
import type { Stage } from './provider.tsx';
import type { Action, Mode, PlaybackState } from './state.ts';

export interface Playback {
  readonly state: PlaybackState & {
    readonly live: boolean;
    readonly reduced: boolean;
    /** Frame time up to which every lane shown is complete; the end of a recording. */
    readonly watermark: Nanos;
    readonly speedWords: string;
  };
  readonly frame: FrameSource;
  /** The newest state, for event handlers. */
  readonly now: () => PlaybackState;
  readonly play: (direction?: Direction) => void;
  readonly pause: () => void;
  /** The stage is covered, or is not any more. */
  readonly veil: (veiled: boolean) => void;
  readonly toggle: () => void;
  /** Plays backwards, or pauses where it does. */
  readonly backwards: () => void;
  readonly scope: () => void;
  /** The scope goes on from this window and moment. */
  readonly sweep: () => void;
  readonly reverse: () => void;
  readonly seek: (moment: number) => void;
  readonly setWindow: (start: number, span?: number) => void;
  readonly zoom: (factor: number) => void;
  /** Exactly this window; the moment stays, or goes along. */
  readonly view: (start: number, span: number) => void;
  readonly setSpeed: (speed: number) => void;
  readonly beat: (direction: Direction) => void;
  readonly event: (direction: Direction) => void;
  readonly nextLongWait: () => void;
  readonly firstDivergence: () => void;
  readonly nextLoss: () => void;
  /** Exactly this window and moment, still. */
  readonly look: (start: number, span: number, moment: number) => void;
  /** `asked`: by the button or key of that alignment, so that words say what it did. */
  readonly align: (alignment: Alignment, nth?: number, asked?: boolean) => void;
  readonly select: (mark: Mark | null) => void;
  readonly focus: (kinds: readonly string[]) => void;
  /** Goes to where a scene looks. `paused` keeps it still, for links that restore a moment. */
  readonly goto: (scene: Scene, paused?: boolean) => void;
}

/** What people do to playback, as functions; `by` says who does it. */
export function actions(stage: Stage, by: Actor = 'person') {
  const act = (action: Action) => stage.player.do(action, by);
  const { player } = stage;
  const before: { mode: Mode } = { mode: 'scope' };
  return {
    frame: player.frame,
    now: () => player.state,
    play: (direction?: Direction) =>
      act({ type: 'play', ...(direction === undefined ? {} : { direction }) }),
    pause: () => act({ type: 'pause' }),
    veil: (veiled: boolean) => {
      if (player.state.veiled !== veiled) act({ type: 'veil', veiled });
    },
    toggle: () => {
      const { mode } = player.state;
      const back = mode === 'play' && player.state.direction < 0;
      if (back) act({ type: 'play', direction: 1 });
      else if (mode !== 'paused') {
        before.mode = mode;
        act({ type: 'pause' });
      } else if (before.mode === 'scope') act({ type: 'resume' });
      else act({ type: 'play', direction: 1 });
    },
    backwards: () => {
      const { mode, direction } = player.state;
      if (mode === 'play' && direction < 0) act({ type: 'pause' });
      else {
        before.mode = 'play';
        act({ type: 'play', direction: -1 });
      }
    },
    scope: () => act({ type: 'scope' }),
    sweep: () => act({ type: 'resume' }),
    reverse: () => act({ type: 'reverse' }),
    seek: (moment: number) => act({ type: 'seek', moment }),
    setWindow: (start: number, span?: number) =>
      act({ type: 'window', start, ...(span === undefined ? {} : { span }) }),
    zoom: (factor: number) => act({ type: 'zoom', factor }),
    view: (start: number, span: number) => act({ type: 'view', start, span }),
    setSpeed: (speed: number) => act({ type: 'speed', speed }),
    beat: (direction: Direction) => act({ type: 'beat', direction }),
    event: (direction: Direction) => act({ type: 'event', direction }),
    nextLongWait: () => act({ type: 'long_wait' }),
    firstDivergence: () => act({ type: 'divergence' }),
    nextLoss: () => act({ type: 'loss' }),
    look: (start: number, span: number, moment: number) =>
      act({ type: 'look', start, span, moment }),
    align: (alignment: Alignment, nth?: number, asked = false) =>
      act({ type: 'align', alignment, ...(nth === undefined ? {} : { nth }), asked }),
    select: (mark: Mark | null) => act({ type: 'select', mark }),
    focus: (kinds: readonly string[]) => act({ type: 'focus', kinds }),
    goto: (scene: Scene, paused = false) => {
      const index = stage.currentIndex();
      const lesson = stage.lesson();
      const span = spanOf(scene) || millisecond;
      const nowhere = { start: ns(0), span, moment: ns(0), follows: true, known: false };
      const place =
        index === null || lesson === null
          ? nowhere
          : claimedPlace(index, scene, lesson, viewOf(lesson.view).moments).place;
      const { seconds, focus } = scene;
      const hold = scene.show.includes('hold');
      act({ type: 'place', place, seconds, focus, hold, paused });
    },
  };
}
