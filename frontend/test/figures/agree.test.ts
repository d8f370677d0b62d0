// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * One number, one scope, one moment: every step of every lesson is opened as the page opens it, on its recording, and
 * walked from the left edge of its window to the right. At each moment all figures of sentence, header, counts,
 * picture, tips and panels are collected: no two of one scope, lane, subject and mark may differ, each text must say its
 * value, and each scope but the plain ones must be named in words next to it.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatCount, formatFigure, formatNs, ns } from '../../src/base/units.ts';
import { type Figure, marksOf, type Scope } from '../../src/derive/figures.ts';
import { viewOf } from '../../src/views/registry.ts';
import {
  type RecordedLesson,
  recordedLessons,
  type ShownScene,
  shownScene,
} from '../fixtures/recordings.ts';
import { Writer, type Written } from './scene.ts';

/** The sentence is looked at at all of them, sums at each fourth, the picture and its text alternative at each fortieth. */
const moments = 200;
const sumsEvery = 4;
const pictureEvery = 40;

/** Words that name a scope. */
const scopeWords: Readonly<Record<Scope, RegExp | null>> = {
  mark: null,
  now: null,
  setup: null,
  operation: /so far|\bcall \d|\bscan \d|\bscan (has|returns)/i,
  window: /this window/i,
  recent: /last 250 ms/i,
  far: /so far|up to this moment/i,
  run: /whole run/i,
  model: /modelled|predict/i,
};

const keyOf = ({ scope, arm, what, mark }: Figure) =>
  [
    scope,
    arm,
    what,
    mark === null ? '' : `${mark.table} ${mark.id} ${mark.row} ${mark.kind} ${mark.t0}`,
  ].join('|');

/** Does the text say the value? */
function says({ text, value }: Figure): boolean {
  const ways = [formatCount(value), formatFigure(value), formatNs(value)];
  ways.push(`${Math.round(value * 100)} %`, formatCount(Math.round(value)));
  ways.push(formatFigure(Math.round(value * 10) / 10));
  if (value === 0) ways.push('no ', 'none', '–');
  if (value === 1) ways.push('once', 'the one ');
  if (value === 2) ways.push('twice');
  return ways.some((way) => text.includes(way)) || /^all/.test(text);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A text as words of its own. */
const alone = (text: string, flags = '') =>
  new RegExp(`(?<![\\w.,])${escaped(text)}(?![\\w]|[.,]\\d)`, flags);

/** The grammatical sentences in which a text stands. */
function sentencesWith(words: readonly string[], text: string): readonly string[] {
  const own = alone(text);
  return words
    .flatMap((one) => one.split(/(?<=\.) (?=[A-Z])/))
    .filter((sentence) => own.test(sentence));
}

const found = new Map<string, string>();

/** How many figures each panel has given. */
const panelFigures = new Map<string, number>();

/** Each kind of trouble once per step. */
function report(key: string, words: string) {
  if (!found.has(key)) found.set(key, words);
}

function compare(step: string, share: number, all: readonly Written[]) {
  const known = new Map<string, readonly [Figure, string]>();
  for (const { where, figures } of all) {
    for (const figure of figures) {
      const key = keyOf(figure);
      const other = known.get(key);
      if (other === undefined) known.set(key, [figure, where]);
      else if (other[0].value !== figure.value)
        report(
          `${step} ${figure.what.replace(/\d+/g, '#')}`,
          `at ${share}: ${key}: ${other[0].text} (${other[1]}) and ${figure.text} (${where})`,
        );
      if (!says(figure))
        report(`${step} says ${figure.what}`, `“${figure.text}” for ${figure.value} (${where})`);
    }
  }
}

/** Words beside each figure name its scope. */
function scoped(step: string, { where, words, figures }: Written) {
  for (const figure of figures) {
    const naming = scopeWords[figure.scope];
    const sentences = naming === null ? [] : sentencesWith(words, figure.text);
    if (naming !== null && !sentences.some((sentence) => naming.test(sentence)))
      report(
        `${step} ${figure.scope} ${figure.what} ${where}`,
        `“${sentences}” does not say that ${figure.text} (${figure.what}) is of scope ${figure.scope}`,
      );
  }
}

/** Numbers that are names. */
const names =
  /CPU \d+|inode \d+|shrinker \d+( \([^)]*\))?|line \d+|\w+\[\d+\.\.\d+\]|call \d+|for each 100|64 bytes/gi;

/** What another host measured. Its CPUs may be as many as those of a figure, so this goes first. */
const elsewhere = /measured [\d.]+ on \d+ CPUs/g;

/** Every number is a figure, or part of a name. */
function whole(step: string, { lesson, index }: ShownScene, { where, words, figures }: Written) {
  let rest = words.join('\n').replaceAll(elsewhere, '');
  const rows = index.lanes.flatMap((lane) => lane.rows.map(({ name }) => name));
  const titles = [...lesson.arms, ...lesson.kinds].map(({ title }) => title);
  const texts = figures.map(({ text }) => text);
  for (const known of [texts, [...rows, ...titles]]) {
    const longestFirst = known.toSorted((a, b) => b.length - a.length);
    for (const text of longestFirst) rest = rest.replaceAll(alone(text, 'gi'), '');
  }
  rest = rest.replaceAll(names, '');
  if (/\d/.test(rest)) report(`${step} ${where} unnamed`, `a number without a scope: “${rest}”`);
}

let lessons: readonly RecordedLesson[] = [];
beforeAll(() => {
  lessons = recordedLessons();
});
afterAll(() => {
  lessons = [];
});

/** One step at all moments; what is checked of words alone, once for each wording. */
function walk(recorded: RecordedLesson, scene: RecordedLesson['lesson']['scenes'][number]) {
  const step = `${recorded.lesson.slug} ${scene.id}`;
  const shown = shownScene(recorded, scene);
  const writer = new Writer(shown);
  const wordings = new Set<string>();
  /** What a mark's tip says does not change with the moment. */
  const tips = new Map<string, Written>();
  const read = (one: Written) => {
    const wording = `${one.where} ${one.words.join(' ').replace(/\d[\d.,]*/g, '#')}`;
    if (wordings.has(wording)) return;
    wordings.add(wording);
    if (one.where === 'sentence' || one.where === 'summary') scoped(step, one);
    // Panels of measured tables have figures of no moment.
    if (!/^(picture|nearby|panel .*)$/.test(one.where)) whole(step, shown, one);
  };
  for (let i = 0; i < moments; i++) {
    const share = i / (moments - 1);
    const last = i === moments - 1;
    const frame = shown.frameAt(share);
    const sentence = writer.sentence(frame);
    const all = i % sumsEvery === 0 || last ? [sentence, ...writer.sums(frame)] : [sentence];
    const seen: Written[] = [sentence];
    if (i % pictureEvery === 0 || last) {
      // Of a window in which marks are cut off, the figures of marks: they are as they were.
      const cut = { ...frame, start: ns(frame.start + share * frame.span), span: frame.span / 4 };
      const { figures, ...picture } = writer.picture(cut);
      const ofMarks = figures.filter(({ mark }) => mark !== null);
      seen.push(writer.picture(frame), { ...picture, figures: ofMarks });
      const panels = writer.panels(frame);
      for (const { where, figures } of panels)
        panelFigures.set(where, (panelFigures.get(where) ?? 0) + figures.length);
      all.push(...seen.slice(1), ...writer.words(frame), ...panels);
    }
    for (const one of all) read(one);
    const marks = seen.flatMap(({ figures }) => figures.map(({ mark }) => mark));
    for (const mark of marks) {
      if (mark === null) continue;
      const key = JSON.stringify(mark);
      const tip = tips.get(key) ?? writer.tip(frame, mark);
      tips.set(key, tip);
      all.push(tip);
    }
    compare(step, share, all);
  }
}

test('no two figures of a moment disagree, and each says what it speaks of', () => {
  for (const recorded of lessons) for (const scene of recorded.lesson.scenes) walk(recorded, scene);
  expect([...found].map(([where, trouble]) => `${where}: ${trouble}`)).toEqual([]);
  // Panels that speak of the run on the stage; sweep and measured have tables of other runs.
  for (const name of ['counted', 'path', 'cost', 'ratios', 'price'])
    expect(panelFigures.get(`panel ${name}`) ?? 0, name).toBeGreaterThan(0);
});

test('what a sentence speaks of is outlined, as far as it is in the window', () => {
  const missing: string[] = [];
  let outlined = 0;
  const speaking = new Set<string>();
  for (const recorded of lessons)
    for (const scene of recorded.lesson.scenes) {
      if (!viewOf(recorded.lesson.view).outlines) continue;
      const shown = shownScene(recorded, scene);
      const writer = new Writer(shown);
      for (const share of [0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
        const frame = shown.frameAt(share);
        const { start, span, offset } = frame;
        const { figures, regions } = writer.sentence(frame);
        const spoken = marksOf(figures).filter(({ arm, t0, t1 }) => {
          const shift = offset.get(arm) ?? 0;
          return t1 + shift > start && t0 + shift < start + span;
        });
        const plain = writer.strokes(frame);
        const more = writer.strokes({ ...frame, spoken }) - plain;
        const where = `${recorded.lesson.slug} ${scene.id} at ${share}`;
        outlined += more + regions.length;
        if (more + regions.length > 0) speaking.add(recorded.lesson.slug);
        if (more !== spoken.length) missing.push(`${where}: ${more} of ${spoken.length}`);
        for (const region of regions)
          if (writer.strokes({ ...frame, regions: [region] }) <= plain)
            missing.push(`${where}: ${region.name} on ${region.arm}`);
      }
    }
  expect(missing).toEqual([]);
  expect(outlined).toBeGreaterThan(30);
  expect([...speaking].sort()).toEqual(lessons.map(({ lesson }) => lesson.slug).sort());
});
