// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A viewer's place in the page, as the address describes it: lesson, step, run, knobs, moment, alignment, and panes.
 * Pure.
 */

import { plain } from '../base/typed.ts';
import type { Alignment } from '../derive/types.ts';
import type { ClockName } from '../protocol/messages.ts';

export type Align = Alignment;

export interface Place {
  /** The lesson's slug, or the word that a person typed instead; null on the front page. */
  readonly lesson: string | null;
  /** The scene's id, or the word that a person typed instead; null for the first scene. */
  readonly step: string | null;
  /** The moment in guest time, ns; null for the scene's own moment. */
  readonly moment: number | null;
  /** The speed in guest seconds per real second; null for the scene's own speed. */
  readonly speed: number | null;
  /** The arms whose lanes are shown; null for the scene's own arms. */
  readonly arms: readonly string[] | null;
  /** How lanes are aligned; null for the scene's own alignment. */
  readonly align: Align | null;
  /** Number of the operation at which lanes are aligned, from 1; null for the scene's own choice. */
  readonly nth: number | null;
  /** The stage's window in frame time, ns; null for the scene's own window. */
  readonly window: { readonly start: number; readonly span: number } | null;
  /** The name of a recording, or the id of another run; null for the recording that fits the scene. */
  readonly run: string | null;
  /** A second run, which is shown next to the first run. */
  readonly beside: string | null;
  /** Knobs whose values differ from those of the scene. */
  readonly knobs: Readonly<Record<string, number>> | null;
  readonly clock: ClockName | null;
  readonly workload: string | null;
  readonly panes: readonly Pane[];
  /** The selected tab in a narrow side panel. */
  readonly side: SideTab | null;
  /** The arm whose patch is shown. */
  readonly patch: string | null;
  /** Number of the selected hunk in the shown patch, from 1. */
  readonly hunk: number | null;
  /** The way in which the lesson is presented; null for the lesson page. */
  readonly present: Present | null;
  /** How often the clicker was pressed within the step, from 1; null for the first press. */
  readonly slide: number | null;
  /** Whether the page is embedded in a frame, for example in somebody's slides. */
  readonly embed: boolean;
}

/** Parts of the page that a viewer can open or close. `knobs` inverts the scene's setting. `toy` replaces the lanes. */
export const panes = ['words', 'knobs', 'questions', 'toy'] as const;
export type Pane = (typeof panes)[number];

export const sideTabs = ['patch', 'evidence'] as const;
export type SideTab = (typeof sideTabs)[number];

/** Ways to present a lesson: slides for the projector, a window for the speaker, and all slides for print. */
export const presents = ['slides', 'notes', 'handout'] as const;
export type Present = (typeof presents)[number];

export const frontPage: Place = {
  lesson: null,
  step: null,
  moment: null,
  speed: null,
  arms: null,
  align: null,
  nth: null,
  window: null,
  run: null,
  beside: null,
  knobs: null,
  clock: null,
  workload: null,
  panes: [],
  side: null,
  patch: null,
  hunk: null,
  present: null,
  slide: null,
  embed: false,
};

/** Fields that are reset when the step changes, because the new scene determines them. */
export const elsewhere = {
  moment: null,
  window: null,
  speed: null,
  arms: null,
  align: null,
  nth: null,
  run: null,
  beside: null,
  hunk: null,
  slide: null,
} as const satisfies Partial<Place>;

export const alignments: readonly Align[] = ['time', 'operation', 'marker', 'begin'];

const name = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const runName = /^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$/;
const most = 64;

/** Parse an address. Invalid parts are ignored and never cause an error. */
export function readPlace(search: string): Place {
  const q = new URLSearchParams(search);
  const word = (key: string) => {
    const value = q.get(key);
    return value !== null && name.test(value) ? value : null;
  };
  const typed = (key: string) => {
    const value = plain(q.get(key) ?? '');
    return name.test(value) ? value : null;
  };
  const number = (key: string, min: number, max: number) => {
    const text = q.get(key);
    const value = text === null || text === '' ? Number.NaN : Number(text);
    return Number.isFinite(value) && value >= min && value <= max ? value : null;
  };
  const arms = (q.get('arms') ?? '').split(',').filter((a) => name.test(a));
  const align = q.get('align');
  const ms = number('at', -1e9, 1e9);
  const whole = (key: string) => {
    const value = number(key, 1, 1e9);
    return value !== null && Number.isInteger(value) ? value : null;
  };
  const one = <T extends string>(key: string, of: readonly T[]) =>
    of.find((value) => value === q.get(key)) ?? null;
  const list = (q.get('open') ?? '').split(',');
  const from = number('from', 0, 1e9);
  const span = number('for', 1e-3, 120_000);
  const run = (key: string) => {
    const value = q.get(key);
    return value !== null && runName.test(value) ? value : null;
  };
  return {
    lesson: typed('lesson'),
    step: typed('step'),
    moment: ms === null ? null : Math.round(ms * 1e6),
    speed: number('speed', 1e-6, 10),
    arms: arms.length > 0 ? [...new Set(arms)] : null,
    align: alignments.find((known) => known === align) ?? null,
    nth: whole('n'),
    window: from === null || span === null ? null : { start: nanos(from), span: nanos(span) },
    run: run('run'),
    beside: run('with'),
    knobs: readKnobs(q.get('knobs')),
    clock: one('clock', ['wall', 'count'] as const),
    workload: word('workload'),
    panes: panes.filter((pane) => list.includes(pane)),
    side: one('side', sideTabs),
    patch: word('patch'),
    hunk: whole('hunk'),
    present: q.get('present') === '1' ? 'slides' : one('present', presents),
    slide: whole('slide'),
    embed: q.get('embed') === '1',
  };
}

function nanos(ms: number): number {
  return Math.round(ms * 1e6);
}

function millis(ns: number): string {
  return (ns / 1e6).toFixed(6).replace(/\.?0+$/, '');
}

/** Parse knobs that are written as "name:9,other:10". */
function readKnobs(text: string | null): Record<string, number> | null {
  const pairs = (text ?? '')
    .split(',')
    .slice(0, most)
    .flatMap((part) => {
      const [key = '', value = '', more] = part.split(':');
      const n = value === '' ? Number.NaN : Number(value);
      return name.test(key) && Number.isFinite(n) && more === undefined ? [[key, n] as const] : [];
    });
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

const own = [
  ...[
    'lesson',
    'step',
    'run',
    'with',
    'arms',
    'knobs',
    'clock',
    'workload',
    'at',
    'from',
    'for',
    'speed',
  ],
  ...['align', 'n', 'open', 'side', 'patch', 'hunk', 'present', 'slide', 'embed'],
];

/** Beginning of the part after `#` that contains a viewer's answers from another device (share/answers.ts). */
export const answersMark = '#answers=';

/** Parameters of plug-ins that make sense only inside a lesson. The front page's address omits them. */
const ofLessons = new Set<string>();

export function leaveOnFront(...keys: readonly string[]): void {
  for (const key of keys) ofLessons.add(key);
}

/** The address of a place. Parameters in `keep` that do not describe a place are kept. */
export function writePlace(place: Place, keep = ''): string {
  const q = new URLSearchParams(keep);
  for (const key of own) q.delete(key);
  if (place.lesson === null) for (const key of ofLessons) q.delete(key);
  const put = (key: string, value: string | number | null) => {
    if (value !== null && value !== '') q.set(key, String(value));
  };
  const { speed, knobs, window } = place;
  put('lesson', place.lesson);
  put('step', place.step);
  put('run', place.run);
  put('with', place.beside);
  put('at', place.moment === null ? null : millis(place.moment));
  if (window !== null) {
    put('from', millis(window.start));
    put('for', millis(window.span));
  }
  put('speed', speed === null ? null : Number(speed.toPrecision(3)));
  put('arms', place.arms?.join(',') ?? null);
  put(
    'knobs',
    Object.entries(knobs ?? {})
      .map(([key, value]) => `${key}:${value}`)
      .join(','),
  );
  put('clock', place.clock);
  put('workload', place.workload);
  put('align', place.align);
  put('n', place.nth);
  put('open', place.panes.join(','));
  put('side', place.side);
  put('patch', place.patch);
  put('hunk', place.hunk);
  put('present', place.present === 'slides' ? '1' : place.present);
  put('slide', place.slide);
  if (place.embed) q.set('embed', '1');
  return searchOf(q);
}

/** The address of the first step of a lesson on this server. */
export function lessonAddress(slug: string, present: Present | null = null): string {
  return writePlace({ ...frontPage, lesson: slug, present }, location.search);
}

const languageTag = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/;

/** The language in an address. It is not part of a place, so links keep it. */
export function readLang(search: string): string | null {
  const tag = new URLSearchParams(search).get('lang');
  return tag !== null && languageTag.test(tag) ? tag : null;
}

/** The same address with another language; null removes the language, so that the visitor's own preference applies. */
export function withLang(search: string, tag: string | null): string {
  const q = new URLSearchParams(search);
  if (tag === null) q.delete('lang');
  else q.set('lang', tag);
  return searchOf(q);
}

/** Format parameters as a query string; empty if there are no parameters. */
export function searchOf(q: URLSearchParams): string {
  const text = q.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text ? `?${text}` : '';
}
