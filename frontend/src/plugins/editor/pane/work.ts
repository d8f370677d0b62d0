// SPDX-License-Identifier: GPL-2.0-or-later
/** A change that is being edited: the files' texts, or a separate diff that does not apply to them. */

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

// Each file's current text with its undo history.
// The history outlives the editor that shows the file, so that undo still works when the file is shown again.

/** Start positions of the functions that the patch touches, kept up to date while the text changes. */
const regionStarts = StateField.define<readonly number[]>({
  create: () => [],
  update: (at, { docChanged, changes }) =>
    docChanged ? at.map((pos) => changes.mapPos(pos, 1)) : at,
});

class Texts extends Signal {
  readonly files: readonly SourceFile[];
  readonly readOnly: boolean;
  /** A version number that increases with each change of a text. */
  version = 0;
  /**
   * Emits when the viewer types or undoes something. Loading a change from a link or a file does not count as typing.
   */
  readonly typed = new Signal();
  #states = new Map<string, EditorState>();
  #open: { readonly name: string; readonly view: EditorView } | null = null;
  #quiet = false;

  constructor(files: readonly SourceFile[], readOnly: boolean) {
    super();
    this.files = files;
    this.readOnly = readOnly;
  }

  /** The document and its history, created on first use. */
  state(name: string): EditorState {
    const known = this.#states.get(name);
    if (known) return known;
    const file = this.#file(name);
    const made = this.made(file.name, file.text);
    this.#states.set(name, made);
    return made;
  }

  /** Create an editor state of the file. `history` is an earlier state, whose undo history the new state takes over. */
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

  /**
   * Register the editor that shows the file, so that changes are made there. Returns a function that unregisters it.
   */
  show(name: string, view: EditorView): () => void {
    const open = { name, view };
    this.#open = open;
    return () => {
      if (this.#open === open) this.#open = null;
    };
  }

  /** An editor reports its file's new state. */
  keep(name: string, state: EditorState, changed: boolean): void {
    this.#states.set(name, state);
    if (changed) this.news(!this.#quiet);
  }

  /** The current position of a touched function. */
  startOf(name: string, region: number): number {
    return this.state(name).field(regionStarts)[region] ?? 0;
  }

  text(name: string): string {
    return this.#states.get(name)?.doc.toString() ?? this.#file(name).text;
  }

  /** Whether a file differs from the arm's own text. */
  differs(name: string): boolean {
    return this.text(name) !== this.#file(name).text;
  }

  /** Show compiler messages at their lines. */
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

  /** Change only the parts that differ, so that positions in the other parts stay valid. */
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

/** Offset of each line's first character. */
function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

const tabColumns = 8;

/** Offset of a compiler message in the text; gcc counts columns as displayed, with tabs of eight. */
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
  /** Whether the change is a separate diff. Otherwise the change is computed from the files' texts. */
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
   * Replace the current change by a diff; undo restores the previous texts. A diff that does not apply is kept separate
   * from the files.
   * @param apart keep the diff separate even if it applies
   */
  take(diff: string, apart = false): void {
    const applied = apart ? null : applyDiff(this.files, diff);
    this.apart = !applied?.fits;
    if (applied?.fits) {
      for (const { name, text } of this.files) this.replace(name, applied.texts.get(name) ?? text);
    } else this.#apartState = this.#diffState(diff);
    this.news(false);
  }

  /** Why a separate diff does not apply to the files, as a sentence; empty if it applies. */
  misfit(): string {
    const applied = applyDiff(this.files, this.diff());
    return applied.fits ? '' : applied.why;
  }

  /** Discard the separate diff and return to the files' current texts. */
  aside(): void {
    this.apart = false;
    this.news(false);
  }

  /** Restore the arm's own text; undo reverts this. */
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

// Stores what a viewer typed, as a diff in this browser, per lesson and arm.

/** Maximum length of a diff that the server accepts, in characters (CHANGE_CHARS in messages/lesson.py). */
export const diffChars = 48_000;

function key(slug: string, arm: string): string {
  return `duet.change.${slug}.${arm}`;
}

/** The stored diff; empty if there is none. */
export function readDraft(slug: string, arm: string): string {
  try {
    return localStorage.getItem(key(slug, arm)) ?? '';
  } catch {
    return '';
  }
}

/** An empty diff deletes the stored one; a diff above the limit is not stored. */
export function writeDraft(slug: string, arm: string, diff: string): void {
  if (diff.length > diffChars) return;
  try {
    if (diff === '') localStorage.removeItem(key(slug, arm));
    else localStorage.setItem(key(slug, arm), diff);
  } catch {
    // If storage is full or forbidden, only the stored copy is lost, not the text on the page.
  }
}

// Loads the arm's text from the server, and applies the stored diff, or a change from a link or a file.

export type Loaded =
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly sentence: string }
  | { readonly state: 'here'; readonly work: Work; readonly note: string };

/** Time after the last keystroke until the text is stored, ms. */
const restMs = 400;

const noLink = t('The change in this link is truncated or damaged, so it was not loaded.');

/** Changes that the viewer has opened since the page was loaded. Undo still works after the pane was closed. */
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
  // If the text was read-only, request it again, because it may be editable now.
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

/** Apply a change from a link or a file. Return sentences that report the result, or an empty string. */
function taken(work: Work, incoming: Incoming | null): string {
  if (incoming === null) return '';
  const diff = diffOf(incoming.text);
  if (diff === '') return noLink;
  const had = work.diff() !== '' && work.diff() !== diff;
  const file = incoming.from === 'file';
  work.take(diff, file);
  const whence = file ? t('This is the diff from the file.') : t('This change came with the link.');
  const own = work.apart
    ? t('Your own text is kept in the files.')
    : t('Undo brings your own text back.');
  return [whence, had && own, t('Nothing runs until you start a run.')].filter(Boolean).join(' ');
}

/** Re-render on each change, and return the version number. */
export function useVersion(work: Work): number {
  return useSyncExternalStore(work.subscribe, () => work.version);
}
