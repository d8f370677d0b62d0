// SPDX-License-Identifier: GPL-2.0-or-later
/** A file in an editor: alone, side by side with the arm's text, or as a diff. */

import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { t } from '../../../base/lang/t.ts';
import { forCode, forDiff } from './setup.ts';
import type { Work } from './work.ts';

/** The position in the file to which the editor scrolls. With each new object, the editor scrolls again. */
export interface Target {
  readonly at: number;
}

interface Props {
  readonly work: Work;
  readonly file: string;
  readonly target: Target | null;
}

const folded = { margin: 4, minSize: 8 };

function toTop(pos: number) {
  return EditorView.scrollIntoView(pos, { y: 'start', yMargin: 28 });
}

function goTo(view: EditorView, { at }: Target): void {
  const pos = Math.min(at, view.state.doc.length);
  view.dispatch({
    selection: { anchor: pos },
    effects: toTop(pos),
  });
  view.focus();
}

/** An editable view of a file's text. */
export function CodeView({ work, file, target }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  useEffect(() => {
    const made = new EditorView({
      state: work.state(file),
      parent: box.current!,
      scrollTo: toTop(work.state(file).selection.main.head),
      dispatchTransactions: (transactions, of) => {
        of.update(transactions);
        work.keep(
          file,
          of.state,
          transactions.some((one) => one.docChanged),
        );
      },
    });
    view.current = made;
    const shut = work.show(file, made);
    return () => {
      shut();
      made.destroy();
    };
  }, [work, file]);
  useEffect(() => {
    if (target && view.current) goTo(view.current, target);
  }, [target]);
  return <div ref={box} className="change-code" data-testid="change-code" />;
}

/** The arm's text on the left and the changed text on the right; on a narrow page, both in one column. */
export function MergedView({ work, file, target, narrow }: Props & { readonly narrow: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  useEffect(() => {
    const before = work.state(file);
    const original = work.files.find(({ name }) => name === file)?.text ?? '';
    const keeping = EditorView.updateListener.of(({ state, docChanged }) => {
      work.keep(file, state, docChanged);
    });
    const b = [work.extensions(file, before), keeping, EditorView.lineWrapping];
    const { doc } = before;
    const parent = box.current!;
    const made = narrow
      ? unified(parent, doc, original, b)
      : beside(parent, doc, original, b, file);
    view.current = made.view;
    work.keep(file, made.view.state, false);
    const shut = work.show(file, made.view);
    return () => {
      shut();
      const { state } = made.view;
      work.keep(file, work.made(file, state.doc.toString(), state), false);
      made.destroy();
    };
  }, [work, file, narrow]);
  useEffect(() => {
    if (target && view.current) goTo(view.current, target);
  }, [target]);
  return <div ref={box} className="change-code" data-testid="change-merge" />;
}

interface Made {
  readonly view: EditorView;
  readonly destroy: () => void;
}

function unified(parent: Element, doc: Text, original: string, b: Extension): Made {
  const merge = unifiedMergeView({ original, collapseUnchanged: folded, mergeControls: false });
  const view = new EditorView({ parent, doc, extensions: [b, merge] });
  return { view, destroy: () => view.destroy() };
}

function beside(parent: Element, doc: Text, original: string, b: Extension, file: string): Made {
  const merged = new MergeView({
    parent,
    a: {
      doc: original,
      extensions: [forCode(t("The arm's text of {file}", { file }), true), EditorView.lineWrapping],
    },
    b: { doc, extensions: b },
    collapseUnchanged: folded,
    gutter: true,
  });
  return { view: merged.b, destroy: () => merged.destroy() };
}

/** The change as a diff; it is editable only if it is kept separate from the files. */
export function DiffView({ work }: { readonly work: Work }) {
  const box = useRef<HTMLDivElement>(null);
  const shown = work.apart ? null : work.diff();
  useEffect(() => {
    const label = t('The change as a diff');
    const state =
      shown === null
        ? work.apartState
        : EditorState.create({ doc: shown, extensions: forDiff(label, true) });
    const view = new EditorView({
      parent: box.current!,
      state,
      dispatchTransactions: (transactions, of) => {
        of.update(transactions);
        if (shown === null)
          work.keepApart(
            of.state,
            transactions.some((one) => one.docChanged),
          );
      },
    });
    const off = work.subscribe(() => {
      if (shown === null && work.apart && work.apartState !== view.state)
        view.setState(work.apartState);
    });
    return () => {
      off();
      view.destroy();
    };
  }, [work, shown]);
  return <div ref={box} className="change-code" data-testid="change-diff" />;
}
