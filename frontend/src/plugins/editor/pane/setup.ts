// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The editor's configuration: kernel C with tabs of eight columns, the page's colours and font, CodeMirror's key
 * bindings.
 */

import { defaultKeymap, history, historyKeymap, indentLess, insertTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter } from '@codemirror/lint';
import { Chunk } from '@codemirror/merge';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, RangeSetBuilder, StateField, Text } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  ViewPlugin,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { t } from '../../../base/lang/t.ts';

// Translations for CodeMirror's own panels, keyed by its English texts.

const phrases: Readonly<Record<string, string>> = {
  Find: t('Find'),
  Replace: t('Replace'),
  next: t('next'),
  previous: t('previous'),
  all: t('all'),
  'match case': t('match case'),
  regexp: t('regexp'),
  'by word': t('by word'),
  replace: t('replace'),
  'replace all': t('replace all'),
  close: t('close'),
  'current match': t('current match'),
  'on line': t('on line'),
  'replaced match on line $': t('replaced match on line $'),
  'replaced $ matches': t('replaced $ matches'),
  'Go to line': t('Go to line'),
  go: t('go'),
  '$ unchanged lines': t('$ unchanged lines'),
  Diagnostics: t('Diagnostics'),
  'No diagnostics': t('No diagnostics'),
  'Control character': t('Control character'),
  'Selection deleted': t('Selection deleted'),
};

// Marks the lines of a diff by their sign, and the changed lines of a text.

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

/** Marks the lines of a document that contains a diff. */
const diffLines: Extension = ViewPlugin.define(
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
    // Deleted lines are marked at the line that follows them.
    const last = Math.max(chunk.fromB, chunk.endB);
    for (let at = chunk.fromB; at <= last && at <= doc.length; ) {
      const line = doc.lineAt(at);
      made.add(line.from, line.from, touched);
      at = line.to + 1;
    }
  }
  return made.finish();
}

/** For a document that contains source code: lines that differ from the original are marked at their edge. */
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

/** Syntax is highlighted mainly by font weight, because most colours already have a meaning on the page. */
const ink = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier], fontWeight: '650' },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: 'var(--mechanism-ink)' },
  { tag: [tags.string, tags.character], color: 'var(--gain-ink)' },
  { tag: tags.number, color: 'var(--wait-ink)' },
  { tag: [tags.processingInstruction, tags.macroName], color: 'var(--soft)', fontWeight: '560' },
]);

const theme = EditorView.theme({
  // Code is written from left to right in every language.
  '&': {
    direction: 'ltr',
    height: '100%',
    color: 'var(--ink)',
    backgroundColor: 'var(--paper)',
    fontSize: '13px',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-code)',
    fontVariantLigatures: 'none',
    lineHeight: '1.5',
  },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    color: 'var(--soft)',
    backgroundColor: 'var(--panel)',
    borderRight: '1px solid var(--rule)',
  },
  '.cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: 'var(--sunk)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--work) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--work) 26%, transparent)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--hold)',
  },
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--panel)', fontSize: '13px' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--rule)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--font-ui)' },
  '.cm-panel.cm-search label, .cm-panel.cm-search input, .cm-panel.cm-search button': {
    fontSize: '13px',
  },
  '.cm-textfield': { backgroundColor: 'var(--paper)', border: '1px solid var(--rule)' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--sunk)',
    border: '1px solid var(--rule)',
  },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--wait) 24%, transparent)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--wait)' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--rule)',
    fontFamily: 'var(--font-ui)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--hazard)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--wait)' },
  '.cm-line.cm-comes': {
    backgroundColor: 'color-mix(in srgb, var(--gain) 13%, transparent)',
    boxShadow: 'inset 3px 0 0 var(--gain)',
  },
  '.cm-line.cm-goes': {
    backgroundColor: 'color-mix(in srgb, var(--vain) 16%, transparent)',
    boxShadow: 'inset 3px 0 0 var(--vain)',
  },
  '.cm-line.cm-head': { color: 'var(--soft)', fontWeight: '600' },
  '.cm-line.cm-touched': { boxShadow: 'inset 3px 0 0 var(--gain)' },
  '&.cm-merge-a .cm-changedLine': {
    backgroundColor: 'color-mix(in srgb, var(--vain) 16%, transparent)',
  },
  '&.cm-merge-b .cm-changedLine': {
    backgroundColor: 'color-mix(in srgb, var(--gain) 13%, transparent)',
  },
  '&.cm-merge-a .cm-changedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 var(--vain)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 var(--gain)',
  },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"⋯"' },
  '.cm-collapsedLines': {
    color: 'var(--soft)',
    background: 'var(--sunk)',
    fontFamily: 'var(--font-ui)',
    fontSize: '13px',
  },
});

const common: Extension = [
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  history(),
  drawSelection(),
  search({ top: true }),
  EditorState.phrases.of(phrases),
  EditorState.tabSize.of(8),
  indentUnit.of('\t'),
  theme,
  keymap.of([
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    { key: 'Tab', run: insertTab, shift: indentLess },
  ]),
];

/** Extensions for kernel C. `label`: the field's name for screen readers. */
export function forCode(label: string, readOnly: boolean): Extension {
  return [
    common,
    cpp(),
    syntaxHighlighting(ink),
    indentOnInput(),
    bracketMatching(),
    lintGutter(),
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}

export function forDiff(label: string, readOnly: boolean): Extension {
  return [
    common,
    diffLines,
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}
