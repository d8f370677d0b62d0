// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a step looks in a run: a window that shows what the step claims, or, where there is none, the usual one. */

import { t } from '../../base/lang/t.ts';
import { formatNs, ns } from '../../base/units.ts';
import type { Scene } from '../../protocol/lesson.ts';
import type { Window } from '../episodes.ts';
import { type Finder, type Place, placeOf, spanOf } from '../moments.ts';
import type { RunIndex } from '../types.ts';
import { mostTypical } from '../typical.ts';
import type { Names } from './found.ts';
import { bestWindows, type Claimed, Search } from './search.ts';

/** Steps whose window is given, not looked for. */
const given: ReadonlySet<string> = new Set(['start', 'operation']);

interface Answer {
  readonly place: Place;
  /** The claim can be seen there; null: nothing is claimed, or nothing can be said yet. */
  readonly shown: boolean | null;
}

/** Of the window: so much is seen to happen before what the step speaks of begins. */
const lead = 1 / 25;

/** Name under which the browser's profile has each search. */
export const searchMeasure = 'duet: window of a step';

const answers = new WeakMap<RunIndex, Map<Claimed, Answer>>();

/** Nothing more will come: what is not there now is not in the run. */
function isWhole(index: RunIndex): boolean {
  const over = index.lanes.every((lane) => lane.ended || lane.failed);
  return over && !index.live && index.reading !== 'coming';
}

/** The step's own moment if it shows the claim; else of the windows that do, the most usual one of the best. */
export function claimedPlace(
  index: RunIndex,
  scene: Claimed & Pick<Scene, 'focus'>,
  names: Names,
  own: Readonly<Record<string, Finder>> = {},
): Answer {
  const usual = () => ({ place: inRun(index, scene, placeOf(index, scene, own)), shown: null });
  if (scene.must_show === null || !isWhole(index)) return usual();
  const known = answers.get(index) ?? new Map<Claimed, Answer>();
  answers.set(index, known);
  const before = known.get(scene);
  if (before !== undefined) return before;
  const start = performance.now();
  const search = new Search(index, scene, names);
  const answer = search.asks ? answerOf(index, scene, search, usual().place) : usual();
  known.set(scene, answer);
  performance.measure(searchMeasure, { start });
  return answer;
}

/** Of the window: so much of what is behind the run's end is seen. */
const tail = 1 / 25;

/** A window that would end behind a run that is over shows more of what was before instead. */
function inRun(index: RunIndex, scene: Claimed, place: Place): Place {
  if (!isWhole(index) || index.axis !== null || scene.align !== 'time') return place;
  const end = Math.max(...index.lanes.map((lane) => lane.watermark));
  const start = ns(Math.max(0, Math.min(place.start, end - place.span * (1 - tail))));
  return { ...place, start, ...(place.follows ? { moment: start } : {}) };
}

function answerOf(index: RunIndex, scene: Claimed, search: Search, usual: Place): Answer {
  const ranks = scene.must_show!.marks.some((one) => one.most);
  // Where a window is ranked or given, the step's own moment has nothing to say.
  const here = !ranks && usual.known && search.amount(usual) >= 0;
  const window = here ? usual : mostUsual(index, bestWindows(search), search);
  if (window === undefined) return { place: usual, shown: false };
  const { start, span } = window;
  const moment = usual.follows || !here ? ns(start + span) : usual.moment;
  const first = search.opening(window);
  const own = here && usual.begin !== undefined ? { begin: usual.begin } : {};
  const begin = first === null ? own : { begin: ns(Math.max(start, first - span * lead)) };
  return { place: { start, span, moment, follows: false, known: true, ...begin }, shown: true };
}

/** Operations last differently, so windows around each are not compared: the first is taken. */
function mostUsual(index: RunIndex, best: readonly Window[], { offsets }: Search) {
  const [first] = best;
  if (first === undefined || best.some(({ span }) => span !== first.span)) return first;
  const starts = best.map(({ start }) => start);
  const start = mostTypical(index, starts, first.span, offsets);
  return best.find((one) => one.start === start) ?? first;
}

/** That a run has no window which shows what the step claims; empty: it has one, or claims nothing. */
export function unseenWords(
  index: RunIndex | null,
  scene: Claimed & Pick<Scene, 'focus'>,
  names: Names,
  own: Readonly<Record<string, Finder>> = {},
): string {
  if (index === null || scene.must_show === null || !isWhole(index)) return '';
  if (claimedPlace(index, scene, names, own).shown !== false) return '';
  const { that } = scene.must_show;
  const span = spanOf(scene);
  if (span === 0 || index.axis !== null || given.has(scene.moment))
    return t('In this run it cannot be seen that {that}.', { that });
  return t('No {span} of this run show that {that}; this is its usual window.', {
    span: formatNs(span),
    that,
  });
}
