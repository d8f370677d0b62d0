// SPDX-License-Identifier: GPL-2.0-or-later

import { describe, expect, it, test } from 'vitest';
import { anyIndex } from '../../test/fixtures/timeline.ts';
import { markOf, spansIn } from '../derive/query.ts';
import type { Lit } from '../protocol/lesson.ts';
import {
  commentLines,
  functionOf,
  hunksThatMatter,
  litLines,
  nextMark,
  parsePatch,
  ranOn,
  readsBackwards,
  turned,
} from './patch.ts';

describe('patch', () => {
  const mail = `From 0 Mon Sep 17 00:00:00 2001
Subject: [PATCH] mm: an example

--- a line of prose
---
 mm/vmscan.c | 4 ++--

--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -748,4 +749,5 @@ void unregister_shrinker(struct shrinker *shrinker)
 	x();
-	down_write(&shrinker_rwsem);
+	mutex_lock(&shrinker_mutex);
+	synchronize_srcu(&shrinker_srcu);

 	y();
--
2.39.5
`;

  it('reads files, hunks and signed lines and nothing of the mail around them', () => {
    expect(parsePatch(mail)).toEqual([
      {
        path: 'mm/vmscan.c',
        added: 2,
        removed: 1,
        hunks: [
          {
            where: 'unregister_shrinker()',
            lines: [
              { sign: ' ', text: '\tx();' },
              { sign: '-', text: '\tdown_write(&shrinker_rwsem);' },
              { sign: '+', text: '\tmutex_lock(&shrinker_mutex);' },
              { sign: '+', text: '\tsynchronize_srcu(&shrinker_srcu);' },
              { sign: ' ', text: '' },
              { sign: ' ', text: '\ty();' },
            ],
          },
        ],
      },
    ]);
  });

  it('finds no file in prose', () => {
    expect(parsePatch('nothing here\n')).toEqual([]);
  });
});

// Both ends of a patch: turned round, lit on the side that runs, open where it tells why.
describe('turned', () => {
  const files = parsePatch(`--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1,5 +1,4 @@ static void walk(int n)
 	begin();
-	for_each_set_bit(i, map)
-		look(i);
+	list_for_each(s, list)
 	end();
 	more();
@@ -20,5 +19,1 @@ static void clear(int n)
-	/*
-	 * Somebody may have come
-	 * meanwhile.
-	 */
 	clear_bit(i);
@@ -40,1 +30,2 @@ static void tail(int n)
 	rest();
+	last();
`);
  const lines = (of: typeof files) =>
    of[0]!.hunks[0]!.lines.map(({ sign, text }) => sign + text.trim());

  test('turned round, what came goes, and what goes stands first; twice gives the patch again', () => {
    expect(lines(turned(files))).toEqual([
      ' begin();',
      '-list_for_each(s, list)',
      '+for_each_set_bit(i, map)',
      '+look(i);',
      ' end();',
      ' more();',
    ]);
    expect([turned(files)[0]!.added, turned(files)[0]!.removed]).toEqual([6, 2]);
    expect(turned(turned(files))).toEqual(files);
  });

  test('an arm that takes a change back is read from its other end; one without a patch is not', () => {
    const patch_texts = [{ file: 'a.patch', subject: '', body: '', text: '' }];
    expect(readsBackwards({ role: 'before', patch_texts })).toBe(true);
    expect(readsBackwards({ role: 'before', patch_texts: [] })).toBe(false);
    expect(readsBackwards({ role: 'after', patch_texts })).toBe(false);
  });

  const lit = (match: string, arm: string): Lit => ({
    match,
    kind: 'walking',
    arms: [arm],
    who: '',
  });

  test('a line is lit for the kernel that has it, whichever way the patch is read', () => {
    const lits = [lit('list_for_each', 'before'), lit('for_each_set_bit', 'after')];
    const found = (all: ReturnType<typeof litLines>) =>
      [...all].map(([{ sign, text }, { arm }]) => `${sign} ${text.trim()} ${arm}`).sort();
    expect(found(litLines(lits, 'before', 'after', files))).toEqual([
      '+ list_for_each(s, list) before',
      '- for_each_set_bit(i, map) after',
    ]);
    expect(found(litLines(lits, 'after', 'before', turned(files)))).toEqual([
      '+ for_each_set_bit(i, map) after',
      '- list_for_each(s, list) before',
    ]);
    expect(litLines(lits, 'before', null, files).size).toBe(1);
  });

  test('open are the hunks whose lines run, and the one whose comment says most', () => {
    const [walk, clear, tail] = files[0]!.hunks;
    expect(files[0]!.hunks.map(commentLines)).toEqual([0, 4, 0]);
    const open = hunksThatMatter(files, ({ text }) => text.includes('list_for_each'));
    expect([walk, clear, tail].map((hunk) => open.has(hunk!))).toEqual([true, true, false]);
  });
});

// From a line of a patch to the marks of its function, and back.
describe('caused', () => {
  const index = anyIndex(`
  before
  work-0  RRRWWWRRRR
  f>      FFFFFF.FFF
  f>      .GGGGG....
  work-1  RRRRRRRRRR
  f>      ...FFFF...
  after
  work-0  RRRRRRRRRR
`);
  const [before] = index.lanes;
  const outer = [...spansIn(before!, 'function', 0, Number.POSITIVE_INFINITY)]
    .filter(({ kind }) => index.kinds[kind]?.name === 'outer')
    .map(({ t0 }) => t0)
    .sort((a, b) => a - b);

  test('the next mark of a function is the one that begins next, on whatever row, and after the last the first', () => {
    expect(outer.length).toBe(3);
    const from = (now: number) => nextMark(index, 'before', 'outer', now)?.t0;
    expect([from(-1), from(outer[0]!), from(outer[1]!), from(outer[2]!)]).toEqual([
      ...outer,
      outer[0],
    ]);
    expect(nextMark(index, 'after', 'outer', 0)).toBeNull();
    expect(nextMark(null, 'before', 'outer', 0)).toBeNull();
  });

  test('what ran on a lane is found in its calls', () => {
    expect(ranOn(index, 'before', 'middle')).toBe(true);
    expect(ranOn(index, 'before', 'inner')).toBe(false);
    expect(ranOn(index, 'after', 'middle')).toBe(false);
  });

  test('a mark leads to the innermost function that it lies in, and a call to itself', () => {
    const kinds = new Set(['outer', 'middle']);
    const mark = (layer: 'state' | 'function', kind: string) => {
      const spans = spansIn(before!, layer, 0, Number.POSITIVE_INFINITY);
      const span = [...spans].find((one) => index.kinds[one.kind]?.name === kind)!;
      return markOf('before', span);
    };
    expect(functionOf(index, mark('state', 'wait_disk'), kinds)).toEqual({
      arm: 'before',
      kind: 'middle',
    });
    expect(functionOf(index, mark('state', 'wait_disk'), new Set(['outer']))?.kind).toBe('outer');
    expect(functionOf(index, mark('function', 'outer'), kinds)?.kind).toBe('outer');
    expect(functionOf(index, mark('state', 'wait_disk'), new Set(['inner']))).toBeNull();
    expect(functionOf(index, null, kinds)).toBeNull();
  });
});
