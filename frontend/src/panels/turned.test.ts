// SPDX-License-Identifier: GPL-2.0-or-later
/** Both ends of a patch: turned round, lit on the side that runs, open where it tells why. */

import { expect, test } from 'vitest';
import type { Lit } from '../protocol/lesson.ts';
import { parsePatch } from './patch.ts';
import { commentLines, hunksThatMatter, litLines, readsBackwards, turned } from './turned.ts';

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

const lit = (match: string, arm: string): Lit => ({ match, kind: 'walking', arms: [arm], who: '' });

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
