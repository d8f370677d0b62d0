// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The text of each file as the viewer has it, with its history. It outlives the editor that shows a file, so that undo goes
 * on where it was.
 */

import { historyField, isolateHistory } from '@codemirror/commands';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { diff } from '@codemirror/merge';
import { EditorState, StateField, type Text, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { t } from '../base/lang/t.ts';
import { Signal } from '../base/signal.ts';
import type { SourceFile } from '../protocol/contract.gen.ts';
import type { Problem } from '../protocol/messages.ts';
import { changedLines } from './diff-lines.ts';
import { forCode } from './setup.ts';

/** Where the functions begin that the patch touches, as the text stands now. */
const regionStarts = StateField.define<readonly number[]>({
  create: () => [],
  update: (at, { docChanged, changes }) =>
    docChanged ? at.map((pos) => changes.mapPos(pos, 1)) : at,
});

export class Texts extends Signal {
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
