// SPDX-License-Identifier: GPL-2.0-or-later
/** Lines of a diff by their sign, and changed lines of a text, in an editor. */

import { Chunk } from '@codemirror/merge';
import { type Extension, RangeSetBuilder, StateField, Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin } from '@codemirror/view';

const comes = Decoration.line({ class: 'cm-comes' });
const goes = Decoration.line({ class: 'cm-goes' });
const head = Decoration.line({ class: 'cm-head' });
const touched = Decoration.line({ class: 'cm-touched' });

function decorationOf(line: string): Decoration | null {
  if (/^(diff |--- |\+\+\+ |@@ |index |new file |deleted file )/.test(line)) return head;
  if (line.startsWith('+')) return comes;
  return line.startsWith('-') ? goes : null;
}

function signsOf(view: EditorView): DecorationSet {
  const made = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      const decoration = decorationOf(line.text);
      if (decoration) made.add(line.from, line.from, decoration);
      at = line.to + 1;
    }
  }
  return made.finish();
}

/** For a document that is a diff. */
export const diffLines: Extension = ViewPlugin.define(
  (view) => {
    let shown = signsOf(view);
    return {
      get shown() {
        return shown;
      },
      update(update) {
        if (update.docChanged || update.viewportChanged) shown = signsOf(update.view);
      },
    };
  },
  { decorations: (plugin) => plugin.shown },
);

function touchedLines(doc: Text, chunks: readonly Chunk[]): DecorationSet {
  const made = new RangeSetBuilder<Decoration>();
  for (const chunk of chunks) {
    // Where lines are gone, the one that follows them is marked.
    const last = Math.max(chunk.fromB, chunk.endB);
    for (let at = chunk.fromB; at <= last && at <= doc.length; ) {
      const line = doc.lineAt(at);
      made.add(line.from, line.from, touched);
      at = line.to + 1;
    }
  }
  return made.finish();
}

/** For a text: the lines that differ from the original are marked at their edge. */
export function changedLines(original: string): Extension {
  const before = Text.of(original.split('\n'));
  const field = StateField.define<{ chunks: readonly Chunk[]; lines: DecorationSet }>({
    create: ({ doc }) => {
      const chunks = Chunk.build(before, doc);
      return { chunks, lines: touchedLines(doc, chunks) };
    },
    update: (value, { docChanged, changes, newDoc }) => {
      if (!docChanged) return value;
      const chunks = Chunk.updateB(value.chunks, before, newDoc, changes);
      return { chunks, lines: touchedLines(newDoc, chunks) };
    },
    provide: (of) => EditorView.decorations.from(of, ({ lines }) => lines),
  });
  return field;
}
