// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { redo, undo } from '@codemirror/commands';
import { forEachDiagnostic } from '@codemirror/lint';
import { afterEach, expect, it } from 'vitest';
import type { ArmSource } from '../../../protocol/contract.gen.ts';
import { applyDiff } from './diff.ts';
import { readDraft, Work, writeDraft } from './work.ts';

const lines = (n: number) => Array.from({ length: n }, (_, i) => `\tint v${i};\n`).join('');
const text = `int first;\n${lines(40)}int second(void)\n{\n\treturn 1;\n}\n`;
const source: ArmSource = {
  arm: 'srcu',
  off: '',
  files: [
    { name: 'mm/a.c', text, regions: [{ title: 'second()', first: 42, last: 45 }] },
    { name: 'mm/b.c', text: 'int b;\n', regions: [] },
  ],
};
const write = (work: Work, name: string, from: string, to: string) => {
  const state = work.state(name);
  const at = state.doc.toString().indexOf(from);
  const changes = { from: at, to: at + from.length, insert: to };
  work.keep(name, state.update({ changes }).state, true);
};

afterEach(() => localStorage.clear());

it('gives the diff of what was typed, and takes it back', () => {
  const work = new Work(source);
  expect(work.diff()).toBe('');
  write(work, 'mm/a.c', 'return 1', 'return 2');
  expect(work.diff()).toContain('-\treturn 1;\n+\treturn 2;\n');
  expect(work.differs('mm/a.c')).toBe(true);
  work.reset();
  expect(work.diff()).toBe('');
  // Undo brings it again.
  const state = work.state('mm/a.c');
  undo({ state, dispatch: (one) => work.keep('mm/a.c', one.state, true) });
  expect(work.diff()).toContain('+\treturn 2;');
  const now = work.state('mm/a.c');
  redo({ state: now, dispatch: (one) => work.keep('mm/a.c', one.state, true) });
  expect(work.diff()).toBe('');
});

it('takes a diff that fits, and leaves one that does not beside the files', () => {
  const one = new Work(source);
  write(one, 'mm/a.c', 'int first;\n', 'int first;\nint new;\n');
  write(one, 'mm/a.c', 'return 1', 'return 2');
  const other = new Work(source);
  other.take(one.diff());
  expect(other.apart).toBe(false);
  expect(other.text('mm/a.c')).toBe(one.text('mm/a.c'));
  // A function is found where it stands now.
  const at = other.startOf('mm/a.c', 0);
  expect(other.text('mm/a.c').slice(at)).toMatch(/^int second/);
  const foreign = one.diff().replaceAll('mm/a.c', 'mm/z.c');
  other.take(foreign);
  expect(other.apart).toBe(true);
  expect(other.diff()).toBe(foreign);
  expect(other.misfit()).toContain('mm/z.c');
  other.aside();
  expect(other.diff()).toBe(one.diff());
  // What fits may be looked at as a diff first.
  other.take(one.diff(), true);
  expect(other.misfit()).toBe('');
});

it('says what is typed by the viewer, and what is not', () => {
  const work = new Work(source);
  let n = 0;
  work.typed.subscribe(() => {
    n += 1;
  });
  work.take('--- a/mm/b.c\n+++ b/mm/b.c\n@@ -1 +1 @@\n-int b;\n+long b;\n');
  expect([work.text('mm/b.c'), n]).toEqual(['long b;\n', 0]);
  write(work, 'mm/b.c', 'long', 'char');
  expect(n).toBe(1);
  work.reset();
  expect(n).toBe(2);
});

it('marks the lines that the compiler names', () => {
  const work = new Work(source);
  const problem = { file: 'mm/a.c', line: 44, column: 9, severity: 'error' as const, text: 'bad' };
  const found = () => {
    const all: string[] = [];
    const state = work.state('mm/a.c');
    forEachDiagnostic(state, ({ message }, from, to) => {
      all.push(`${message}: ${state.sliceDoc(from, to)}`);
    });
    return all;
  };
  work.mark([problem, { ...problem, file: 'mm/z.c' }, { ...problem, line: 999, column: 0 }]);
  expect(found()).toHaveLength(2);
  expect(found()[0]).toBe('bad: return');
  work.mark([]);
  expect(found()).toEqual([]);
});

it('a draft outlives the page, within its bound', () => {
  const work = new Work(source);
  write(work, 'mm/b.c', 'int', 'long');
  writeDraft('l', 'srcu', work.diff());
  expect(applyDiff(source.files, readDraft('l', 'srcu')).fits).toBe(true);
  expect(readDraft('l', 'rwsem')).toBe('');
  writeDraft('l', 'srcu', 'x'.repeat(50_000));
  expect(readDraft('l', 'srcu')).toBe(work.diff());
  writeDraft('l', 'srcu', '');
  expect(readDraft('l', 'srcu')).toBe('');
});
