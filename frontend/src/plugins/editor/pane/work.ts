// SPDX-License-Identifier: GPL-2.0-or-later
/** A change in the making: the texts of the files, or a diff that stands by itself because it does not fit them. */

import { historyField, isolateHistory } from '@codemirror/commands';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { diff } from '@codemirror/merge';
import { EditorState, StateField, type Text, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { t } from '../../../base/lang/t.ts';
import { Signal } from '../../../base/signal.ts';
import { readArmSource } from '../../../protocol/contract.checks.gen.ts';
import type { ArmSource, SourceFile } from '../../../protocol/contract.gen.ts';
import type { Problem } from '../../../protocol/messages.ts';
import { fetchChecked } from '../../../runs/saved-runs.tsx';
import type { Incoming, Opened } from '../door.tsx';
import { applyDiff, diffOf, makeDiff } from './diff.ts';
import { changedLines, forCode, forDiff } from './setup.ts';

// The text of each file as the viewer has it, with its history. It outlives the editor that shows a file, so that undo goes
// on where it was.

/** Where the functions begin that the patch touches, as the text stands now. */
const regionStarts = StateField.define<readonly number[]>({
  create: () => [],
  update: (at, { docChanged, changes }) =>
    docChanged ? at.map((pos) => changes.mapPos(pos, 1)) : at,
});

class Texts extends Signal {
  readonly files: readonly SourceFile[];
  readonly readOnly: boolean;
  /** Rises with each change of a text. */
  version = 0;
  /** The viewer wrote something, or took his words back; what a link or a file brings is not his yet. */
  readonly typed = new Signal();
  #states = new Map<string, EditorState>();
  #open: { readonly name: string; readonly view: EditorView } | null = null;
  #quiet = false;

  constructor(files: readonly SourceFile[], readOnly: boolean) {
    super();
    this.files = files;
    this.readOnly = readOnly;
  }

  /** The document and its history; made when it is first looked at. */
  state(name: string): EditorState {
    const known = this.#states.get(name);
    if (known) return known;
    const file = this.#file(name);
    const made = this.made(file.name, file.text);
    this.#states.set(name, made);
    return made;
  }

  /** A state of the file; `history`: of the state whose undo it takes over. */
  made(name: string, doc: string, history?: EditorState): EditorState {
    const { regions } = this.#file(name);
    const opened = regions.find((region) => region.title !== '') ?? regions[0];
    const first = startsOf(doc)[(opened?.first ?? 1) - 1] ?? 0;
    return EditorState.create({
      doc,
      selection: history?.selection ?? { anchor: first },
      extensions: this.extensions(name, history),
    });
  }

  extensions(name: string, history?: EditorState) {
    const { text, regions } = this.#file(name);
    const past = history?.field(historyField, false);
    const lines = startsOf(text);
    const first = history?.field(regionStarts, false);
    return [
      forCode(t('Text of {name}', { name }), this.readOnly),
      changedLines(text),
      regionStarts.init(() => first ?? regions.map((region) => lines[region.first - 1] ?? 0)),
      ...(past === undefined ? [] : [historyField.init(() => past)]),
    ];
  }

  /** An editor shows the file: what is done to it is done there. What comes back ends that. */
  show(name: string, view: EditorView): () => void {
    const open = { name, view };
    this.#open = open;
    return () => {
      if (this.#open === open) this.#open = null;
    };
  }

  /** An editor says how its file stands. */
  keep(name: string, state: EditorState, changed: boolean): void {
    this.#states.set(name, state);
    if (changed) this.news(!this.#quiet);
  }

  /** The place of a touched function, as the text stands. */
  startOf(name: string, region: number): number {
    return this.state(name).field(regionStarts)[region] ?? 0;
  }

  text(name: string): string {
    return this.#states.get(name)?.doc.toString() ?? this.#file(name).text;
  }

  /** Whether a file is not the arm's any more. */
  differs(name: string): boolean {
    return this.text(name) !== this.#file(name).text;
  }

  /** What the compiler said, at the lines of the files. */
  mark(problems: readonly Problem[]): void {
    for (const { name } of this.files) {
      const mine = problems.filter((problem) => problem.file === name);
      if (mine.length === 0 && !this.#states.has(name)) continue;
      const state = this.state(name);
      this.#apply(
        name,
        setDiagnostics(
          state,
          mine.map((one) => diagnosticOf(state, one)),
        ),
      );
    }
  }

  /** Changes no more than differs, so that places in the rest of the text stay known. */
  replace(name: string, text: string): void {
    const { doc } = this.state(name);
    const before = doc.toString();
    const parts = diff(before, text, { scanLimit: 500 });
    if (parts.length === 0) return;
    this.#apply(name, {
      annotations: isolateHistory.of('full'),
      changes: parts.map(({ fromA, toA, fromB, toB }) => ({
        from: fromA,
        to: toA,
        insert: text.slice(fromB, toB),
      })),
    });
  }

  #apply(name: string, spec: TransactionSpec): void {
    this.#quiet = true;
    if (this.#open?.name === name) this.#open.view.dispatch(spec);
    else this.#states.set(name, this.state(name).update(spec).state);
    this.#quiet = false;
  }

  #file(name: string): SourceFile {
    return this.files.find((file) => file.name === name) ?? { name, text: '', regions: [] };
  }

  news(typed: boolean): void {
    this.version += 1;
    this.emit();
    if (typed) this.typed.emit();
  }
}

/** Where each line begins. */
function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

const tabColumns = 8;

/** Where a problem stands in the text: gcc counts columns as they are shown, with tabs of eight. */
export function placeOf(doc: Text, { line, column }: Pick<Problem, 'line' | 'column'>): number {
  const { from, text } = doc.line(Math.min(line, doc.lines));
  let [at, shown] = [0, 1];
  for (; at < text.length && shown < column; at++)
    shown += text[at] === '\t' ? tabColumns - ((shown - 1) % tabColumns) : 1;
  return from + at;
}

function diagnosticOf({ doc }: EditorState, problem: Problem): Diagnostic {
  const from = placeOf(doc, problem);
  const line = doc.lineAt(from);
  const word = /^\w+/.exec(line.text.slice(from - line.from))?.[0].length ?? 1;
  const to = problem.column > 0 ? Math.min(from + word, line.to) : line.to;
  return { from, to, severity: problem.severity, message: problem.text };
}

export class Work extends Texts {
  readonly source: ArmSource;
  /** The diff stands by itself; else it is made of the texts. */
  apart = false;
  #apartState: EditorState;
  #made: { readonly version: number; readonly diff: string } = { version: -1, diff: '' };

  constructor(source: ArmSource) {
    super(source.files, source.off !== '');
    this.source = source;
    this.#apartState = this.#diffState('');
  }

  get apartState(): EditorState {
    return this.#apartState;
  }

  keepApart(state: EditorState, changed: boolean): void {
    this.#apartState = state;
    if (changed) this.news(true);
  }

  diff(): string {
    if (this.#made.version !== this.version)
      this.#made = {
        version: this.version,
        diff: !this.apart
          ? makeDiff(this.files, new Map(this.files.map(({ name }) => [name, this.text(name)])))
          : this.#apartState.doc.toString(),
      };
    return this.#made.diff;
  }

  /**
   * Puts a diff in the place of what is there; undo brings that back. One that does not fit stands by itself.
   * @param apart it stands by itself although it may fit
   */
  take(diff: string, apart = false): void {
    const applied = apart ? null : applyDiff(this.files, diff);
    this.apart = !applied?.fits;
    if (applied?.fits) {
      for (const { name, text } of this.files) this.replace(name, applied.texts.get(name) ?? text);
    } else this.#apartState = this.#diffState(diff);
    this.news(false);
  }

  /** Why a diff that stands by itself cannot be put on the files, a sentence; empty: it can. */
  misfit(): string {
    const applied = applyDiff(this.files, this.diff());
    return applied.fits ? '' : applied.why;
  }

  /** Leaves a diff that stands by itself, for the files as they stand. */
  aside(): void {
    this.apart = false;
    this.news(false);
  }

  /** Back to the arm's own text, which undo takes back in turn. */
  reset(): void {
    this.apart = false;
    for (const { name, text } of this.files) this.replace(name, text);
    this.news(true);
  }

  #diffState(doc: string): EditorState {
    return EditorState.create({
      doc,
      extensions: forDiff(t('The change as a diff'), this.readOnly),
    });
  }
}

// What a viewer typed, as a diff in this browser, for each arm of each lesson.

/** The bound of a message of the server's (CHANGE_CHARS in messages/lesson.py). */
export const diffChars = 48_000;

function key(slug: string, arm: string): string {
  return `duet.change.${slug}.${arm}`;
}

/** Empty: nothing is there. */
export function readDraft(slug: string, arm: string): string {
  try {
    return localStorage.getItem(key(slug, arm)) ?? '';
  } catch {
    return '';
  }
}

/** An empty text takes it away; one above the bound is not taken. */
export function writeDraft(slug: string, arm: string, diff: string): void {
  if (diff.length > diffChars) return;
  try {
    if (diff === '') localStorage.removeItem(key(slug, arm));
    else localStorage.setItem(key(slug, arm), diff);
  } catch {
    // A full or forbidden store loses the memory, not the text on the page.
  }
}

// The arm's text from the server, with what the viewer typed before, or what a link or a file brought, put on it.

export type Loaded =
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly sentence: string }
  | { readonly state: 'here'; readonly work: Work; readonly note: string };

/** Writing to the browser's store waits until the viewer rests for so long, ms. */
const restMs = 400;

const noLink = t('The change in this link is truncated or damaged, so it was not loaded.');

/** Works of this visit, so that undo survives closing the pane. */
const works = new Map<string, Work>();
const mostWorks = 4;

export function useWork(slug: string, { arm, incoming }: Opened): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'asking' });
  useEffect(() => {
    const stop = new AbortController();
    setLoaded({ state: 'asking' });
    workOf(slug, arm, stop.signal).then(
      (work) => setLoaded({ state: 'here', work, note: taken(work, incoming) }),
      (cause: unknown) => {
        if (stop.signal.aborted) return;
        setLoaded({ state: 'failed', sentence: cause instanceof Error ? cause.message : '' });
      },
    );
    return () => stop.abort();
  }, [slug, arm, incoming]);
  return loaded;
}

async function workOf(slug: string, arm: string, signal: AbortSignal): Promise<Work> {
  const key = `${slug} ${arm}`;
  const known = works.get(key);
  // What the server could not give may be there now.
  if (known && !known.readOnly) return known;
  const url = `api/lessons/${encodeURIComponent(slug)}/arms/${encodeURIComponent(arm)}/source`;
  const source = await fetchChecked(url, readArmSource, { signal });
  const work = new Work(source);
  const draft = readDraft(slug, arm);
  if (draft !== '') work.take(draft);
  for (const old of [...works.keys()].slice(0, Math.max(0, works.size - mostWorks + 1)))
    works.delete(old);
  works.set(key, work);
  let timer: ReturnType<typeof setTimeout> | undefined;
  work.typed.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => writeDraft(slug, arm, work.diff()), restMs);
  });
  return work;
}

/** Applies what came from outside; gives the sentences that say so, or nothing. */
function taken(work: Work, incoming: Incoming | null): string {
  if (incoming === null) return '';
  const diff = diffOf(incoming.text);
  if (diff === '') return noLink;
  const had = work.diff() !== '' && work.diff() !== diff;
  const file = incoming.from === 'file';
  work.take(diff, file);
  const whence = file ? t('This is the diff of the file.') : t('This change came with the link.');
  const own = work.apart ? t('Your own text is behind it.') : t('Undo brings your own text back.');
  return [whence, had && own, t('Nothing runs until you say so.')].filter(Boolean).join(' ');
}

/** Shows the work as it stands; the number rises with each change. */
export function useVersion(work: Work): number {
  return useSyncExternalStore(work.subscribe, () => work.version);
}
