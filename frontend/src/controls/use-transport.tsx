// SPDX-License-Identifier: GPL-2.0-or-later
/** The transport and the keys of any playback: of one run's lanes, or of two runs' side by side. */

import type { ComponentProps } from 'react';
import { t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { operationsOfAll, together, unaligned } from '../derive/align.ts';
import { noDivergence, noLongWait, noMarker } from '../derive/jumps.ts';
import { isWait } from '../derive/query.ts';
import { momentWords } from '../derive/retime.ts';
import type { RunIndex } from '../derive/types.ts';
import { nthOf } from '../navigation/navigation.ts';
import type { Playback } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { nothingYet } from '../ui/parts.tsx';
import { chooseTheme } from '../ui/theme.ts';
import { Overview } from '../views/overview/index.tsx';
import type { Act } from './keyboard.ts';
import type { Transport } from './transport.tsx';
import { windowActs } from './window-keys.ts';

interface Given {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly index: RunIndex | null;
  readonly theme: Theme;
  readonly settled: boolean;
  readonly live: boolean;
  /** The viewer is to predict first: what would answer him is not shown. */
  readonly veiled?: boolean;
  /** And neither is what would answer a later step's question. */
  readonly askedLater?: boolean;
  /** Nor how the lanes compare. */
  readonly uncounted?: boolean;
  /** The lesson as axis and scrubber show it: with a title for each lane. */
  readonly lanesOf?: Lesson;
  readonly onWords: () => void;
}

const predictFirst = t('Say what you expect first; this is shown after it.');
export const askedSoon = t(
  'A later step asks for a prediction about the whole run; this is shown after it.',
);

export function useTransport(playback: Playback, given: Given): ComponentProps<typeof Transport> {
  const { lesson, scene, index } = given;
  const { state } = playback;
  /** Aligns at an operation and goes to where it happens on every lane at once. */
  const onAt = (n: number) => {
    const by = playback.state.alignment;
    const at = index && together(index, by, n).at;
    playback.align(by, n);
    if (at !== null) playback.seek(at);
  };
  return {
    moving: state.mode !== 'paused' && !state.veiled,
    backwards: state.direction < 0,
    frame: playback.frame,
    speed: state.speed,
    align: state.alignment,
    armed: given.live && state.mode === 'scope',
    live: given.live,
    empty: !given.settled,
    beat: lesson.beat?.name ?? lesson.operation.name,
    operation: lesson.operation.name,
    unaligned: unaligned(lesson),
    nth: scene.align === 'begin' ? scene.operation : null,
    at: { n: state.operation, most: index ? operationsOfAll(index) : 0 },
    onAt,
    axis: index?.axis ?? null,
    lanes: index?.lanes.length ?? 0,
    hidden: given.veiled ? predictFirst : '',
    overview: given.askedLater ? (
      <p className="small quiet">{askedSoon}</p>
    ) : (
      index &&
      !given.veiled && (
        <Overview
          runIndex={index}
          lesson={given.lanesOf ?? lesson}
          frame={playback.frame}
          theme={given.theme}
          onWindow={playback.setWindow}
          onView={playback.view}
          onSeek={playback.seek}
          moment={state.moment}
          words={momentWords(index.axis, state.moment)}
        />
      )
    ),
    onToggle: playback.toggle,
    onBackwards: playback.backwards,
    onEvent: playback.event,
    onBeat: playback.beat,
    onSpeed: playback.setSpeed,
    onAlign: (align) => playback.align(align, nthOf(align, scene), true),
    onLongWait: lesson.kinds.some(isWait) ? playback.nextLongWait : null,
    onDivergence: playback.firstDivergence,
    ...whyNot(given),
    onLoss: index?.lanes.some((lane) => lane.losses.length > 0) ? playback.nextLoss : null,
    onScope: playback.scope,
    onWords: given.onWords,
  };
}

/** Why a jump cannot be made here; empty: it can. */
function whyNot({ lesson, lanesOf = lesson, index, settled, veiled, uncounted }: Given) {
  if (index === null || !settled)
    return { noMarker: '', noLongWait: nothingYet, noDivergence: nothingYet };
  return {
    noMarker: noMarker(index, lesson),
    noLongWait: veiled ? predictFirst : noLongWait(index),
    noDivergence: veiled ? predictFirst : uncounted ? askedSoon : noDivergence(index, lanesOf),
  };
}

/** What the keys of every page with lanes do. */
export function playbackActs(playback: Playback, theme: Theme) {
  return {
    toggle: playback.toggle,
    backwards: playback.backwards,
    'beat-back': () => playback.beat(-1),
    'beat-on': () => playback.beat(1),
    'event-back': () => playback.event(-1),
    'event-on': () => playback.event(1),
    slower: () => playback.setSpeed(playback.now().speed / 1.5),
    faster: () => playback.setSpeed(playback.now().speed * 1.5),
    ...windowActs(playback),
    'long-wait': playback.nextLongWait,
    divergence: playback.firstDivergence,
    loss: playback.nextLoss,
    'align-time': () => playback.align('time'),
    'align-operation': () => playback.align('operation', undefined, true),
    'align-marker': () => playback.align('marker', undefined, true),
    theme: () => chooseTheme(theme.name === 'dark' ? 'light' : 'dark'),
  } satisfies Partial<Record<Act, () => void>>;
}
