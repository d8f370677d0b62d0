// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Behind every mark lies something: the server has the trace records that its drawer asks for, among them those that
 * made it; or one sentence says from what it was computed, with the accesses or samples. On every lesson's recordings.
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { lightTheme } from '../src/base/theme.ts';
import type { Behind } from '../src/derive/behind.ts';
import type { Mark } from '../src/derive/types.ts';
import { behindOf } from '../src/page/use-lesson-page.ts';
import type { RawEvent } from '../src/protocol/contract.gen.ts';
import type { Lesson } from '../src/protocol/lesson.ts';
import type { Artist, Laid } from '../src/views/contract.ts';
import { hit } from '../src/views/items.ts';
import { viewOf } from '../src/views/registry.ts';
import { type RecordedLesson, recordedLessons, shownScene } from './fixtures/recordings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const size = { width: 900, height: 700, dpr: 1 };
const grid = 12;
/** Marks of a kind that are looked at, of each lane of a step. */
const most = 3;

/** Raw records as a server gives them, of recordings that are played as a server plays them. */
const ask = `
import asyncio, json, sys
from duet.lessons.load import load
from duet.server.recordings import RecordedRun
async def main():
    answers = {}
    for run, asked in json.load(sys.stdin).items():
        _, slug, name = run.split(":")
        folder = load(slug)
        path = next(p for p in folder.recordings() if p.stem == name)
        one = RecordedRun(folder, path, run)
        await one.perform()
        try:
            answers[run] = [one.raw_events(a["arm"], a["t"], a.get("row"), 50, a.get("cpu")) for a in asked]
        finally:
            one.close()
    json.dump(answers, sys.stdout)
asyncio.run(main())
`;

interface Looked {
  readonly where: string;
  readonly lesson: Lesson;
  readonly run: string;
  readonly mark: Mark;
  readonly behind: Behind | null;
  readonly events: readonly RawEvent[];
}

function marksIn(one: RecordedLesson): Omit<Looked, 'events'>[] {
  return one.lesson.scenes.flatMap((scene) => {
    const { lesson, index, frameAt } = shownScene(one, scene);
    const artist: Artist<Laid> = viewOf(lesson.view).artist(lesson, scene.show);
    const found = new Map<string, Omit<Looked, 'events'>[]>();
    for (const share of [0.3, 1]) {
      const frame = frameAt(share);
      const drawing = { index, frame, size, lesson, theme: lightTheme, show: scene.show };
      const laid = artist.layout(drawing, 34, 13);
      for (let x = 4; x < size.width; x += grid) {
        for (let y = 4; y < size.height; y += grid) {
          const mark = hit(artist, laid, drawing, { x, y });
          if (mark === null) continue;
          const key = `${mark.arm} ${mark.table} ${mark.kind}`;
          const known = found.get(key) ?? [];
          found.set(key, known);
          if (known.length === most || known.some((k) => k.mark.id === mark.id)) continue;
          const where = `${lesson.slug}, ${scene.id}, ${artist.describe(drawing, mark)}`;
          const behind = behindOf(index, frame, lesson, mark);
          known.push({ where, lesson, run: index.runId, mark, behind });
        }
      }
    }
    return [...found.values()].flat();
  });
}

let looked: readonly Looked[] = [];

beforeAll(() => {
  const found = recordedLessons().flatMap(marksIn);
  const asked = Map.groupBy(
    found.filter(({ behind }) => behind?.trace),
    ({ run }) => run,
  );
  const input = [...asked].map(([run, all]) => [
    run,
    all.map(({ behind }) => ({ arm: behind!.arm, ...behind!.trace })),
  ]);
  const out = execFileSync(`${root}.venv/bin/python`, ['-c', ask], {
    cwd: root,
    input: JSON.stringify(Object.fromEntries(input)),
    maxBuffer: 2 ** 30,
  });
  const answers = JSON.parse(out.toString()) as Record<string, RawEvent[][]>;
  looked = found.map((one) => ({
    ...one,
    events: answers[one.run]?.[asked.get(one.run)?.indexOf(one as never) ?? -1] ?? [],
  }));
}, 240_000);

const where = (all: readonly Looked[]) => all.map((one) => one.where);

test('each lesson has marks of several kinds to look at', () => {
  const kinds = Map.groupBy(looked, ({ lesson }) => lesson.slug);
  expect(kinds.size).toBeGreaterThan(4);
  for (const all of kinds.values())
    expect(new Set(all.map(({ mark }) => `${mark.table} ${mark.kind}`)).size).toBeGreaterThan(6);
});

test('the server has trace records for a mark, and the one that made it is among them', () => {
  const traced = looked.filter(({ behind }) => behind?.trace);
  // A mark that is open when the lane's time starts is cut at 0; the record that made it is older.
  const made = ({ mark, behind, events }: Looked) =>
    events.some((e) => e.t_ns === behind!.trace!.t || (mark.t0 <= 0 && e.t_ns <= 0));
  expect(where(traced.filter((one) => !made(one)))).toEqual([]);
  const foreign = ({ behind, events }: Looked) =>
    behind!.trace!.cpu !== undefined && events.some((e) => e.cpu !== behind!.trace!.cpu);
  expect(where(traced.filter(foreign))).toEqual([]);
});

test('where no event made it, a sentence says from what it was computed, with what was counted', () => {
  const untraced = looked.filter(({ behind }) => behind?.trace == null);
  expect(untraced.length).toBeGreaterThan(100);
  const sentence = /^[A-Z][^.]+(?:6\.1[^.]*)?\.$/;
  expect(where(untraced.filter(({ behind }) => !sentence.test(behind?.how ?? '')))).toEqual([]);
  const bare = untraced.filter(
    ({ behind }) => behind!.rows.length === 0 && !/ no (counted )?access /.test(behind!.how),
  );
  expect(where(bare)).toEqual([]);
});

test('only the lesson whose lenses see accesses has marks without a trace', () => {
  const slugs = looked.filter(({ behind }) => behind?.trace == null).map((one) => one.lesson);
  const lenses = slugs.every(({ microscope, xray }) => microscope !== null || xray.length > 0);
  expect([lenses, new Set(slugs.map(({ slug }) => slug)).size]).toEqual([true, 1]);
});
