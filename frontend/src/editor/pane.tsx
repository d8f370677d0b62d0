// SPDX-License-Identifier: GPL-2.0-or-later
/** Change the patch: the code of an arm in an editor beside the lanes. Loaded when it is first opened. */

import { t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import './pane.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { Problem } from '../protocol/messages.ts';
import { changeable } from '../store/changes.ts';
import { off, useMedia } from '../ui/parts.tsx';
import { Challenges } from './challenges.tsx';
import { CodeView, DiffView, MergedView, type Target } from './code-view.tsx';
import { tallyOf } from './diff.ts';
import type { Door, Opened } from './door.tsx';
import { diffChars } from './draft.ts';
import { FilesBar } from './files-bar.tsx';
import { Problems } from './problems.tsx';
import { RunBar } from './run-bar.tsx';
import { Share } from './share.tsx';
import { placeOf } from './texts.ts';
import { useVersion, useWork } from './use-work.ts';
import type { Work } from './work.ts';

interface Props {
  readonly door: Door;
  readonly opened: Opened;
}

/** Two texts side by side want room. */
const narrowPane = '(max-width: 760px)';

const views = ['edit', 'merge', 'diff'] as const;
type View = (typeof views)[number];

const viewNames: Readonly<Record<View, string>> = {
  edit: t('edit'),
  merge: t('merge'),
  diff: t('diff'),
};

const viewTitles: Readonly<Record<View, string>> = {
  edit: t('write in the code'),
  merge: t('yours beside the code of the arm'),
  diff: t('the change as a diff'),
};

export function ChangePane({ door, opened }: Props) {
  const loaded = useWork(door.lesson.slug, opened);
  const [view, setView] = useState<View>('edit');
  const box = useRef<HTMLElement>(null);
  const came = loaded.state === 'here';
  useEscape(door.close);
  // The keys go where one writes, or to the pane while nothing is there to write in.
  useEffect(() => {
    const to = came ? box.current?.querySelector<HTMLElement>('.cm-content') : null;
    (to ?? box.current)?.focus();
  }, [came]);
  return (
    <section
      ref={box}
      className="change-pane"
      aria-label={t('Change the patch')}
      data-view={view}
      tabIndex={-1}
      data-testid="change-pane"
    >
      <Head door={door} opened={opened} />
      {loaded.state === 'asking' && <p className="quiet">{t("The arm's code is on its way…")}</p>}
      {loaded.state === 'failed' && <p role="alert">{loaded.sentence}</p>}
      {loaded.state === 'here' && (
        <Body key={opened.arm} {...{ door, opened, view, setView }} {...loaded} />
      )}
    </section>
  );
}

/** Esc closes the pane, wherever the focus is; what the editor or a dialog has open closes first. */
function useEscape(close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const at = event.target instanceof Element ? event.target : null;
      const taken = event.defaultPrevented && at?.closest('.cm-editor');
      if (event.key === 'Escape' && !taken && !at?.closest('[role="dialog"]')) latest.current();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

function Head({ door, opened }: Props) {
  const arms = changeable(door.lesson);
  return (
    <header>
      <h2>{t('Change the patch')}</h2>
      <label className="change-arm">
        <span className="quiet small">{t('of')}</span>{' '}
        <select
          aria-label={t('The arm that is changed')}
          value={opened.arm}
          onChange={(event) => door.open(event.target.value, opened.incoming ?? undefined)}
          data-testid="change-arm"
        >
          {arms.map((arm) => (
            <option key={arm.name} value={arm.name}>
              {arm.title}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        onClick={door.close}
        title={t('Esc; your text stays')}
      >
        {t('close')}
      </button>
    </header>
  );
}

interface BodyProps extends Props {
  readonly work: Work;
  readonly note: string;
  readonly view: View;
  readonly setView: (view: View) => void;
}

function Body({ door, opened, work, note, view, setView }: BodyProps) {
  const version = useVersion(work);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the diff follows the version
  const diff = useMemo(() => work.diff(), [work, version]);
  const [file, setFile] = useState(work.files[0]?.name ?? '');
  const [target, setTarget] = useState<Target | null>(null);
  const { apart } = work;
  const now = apart || work.files.length === 0 ? 'diff' : view;
  const go = (name: string, at: number) => {
    setFile(name);
    if (now === 'diff') setView('edit');
    setTarget({ at });
  };
  const toLine = (problem: Problem) =>
    go(problem.file, placeOf(work.state(problem.file).doc, problem));
  const changed = door.asked?.base === opened.arm ? door.changed : null;
  useEffect(() => work.mark(changed?.problems ?? []), [work, changed?.problems]);
  const why = whyNot(work, diff);
  const narrow = useMedia(narrowPane);
  return (
    <>
      <Notes work={work} note={note} onFiles={() => work.aside()} />
      <div className="change-bar">
        <Views {...{ now, setView, apart }} />
        <Tally diff={diff} />
      </div>
      {now !== 'diff' && (
        <FilesBar
          files={work.files}
          file={file}
          changed={(name) => work.differs(name)}
          onFile={setFile}
          onRegion={(region) => go(file, work.startOf(file, region))}
        />
      )}
      {now === 'edit' && <CodeView {...{ work, file, target }} />}
      {now === 'merge' && <MergedView {...{ work, file, target, narrow }} />}
      {now === 'diff' && (diff || apart ? <DiffView work={work} /> : <NoDiff />)}
      {changed && (
        <Problems
          changed={changed}
          shown={(name) => !apart && work.files.some((one) => one.name === name)}
          onGo={toLine}
        />
      )}
      <Challenges door={door} base={opened.arm} changed={changed} />
      <footer>
        <RunBar
          door={door}
          base={opened.arm}
          why={why}
          onRun={() => door.run(opened.arm, work.diff())}
        />
        <Share
          name={`${door.lesson.slug}-${opened.arm}`}
          arm={opened.arm}
          diff={diff}
          address={door.address}
          onText={(text) => door.open(opened.arm, { text, from: 'file' })}
          onReset={() => work.reset()}
        />
      </footer>
    </>
  );
}

/** Why a text cannot run; empty: it can. */
function whyNot(work: Work, diff: string): string {
  if (work.readOnly) return work.source.off;
  if (diff.trim() === '') return t('Change a line first.');
  if (diff.length > diffChars)
    return t('The change has {n} characters; {most} can be built.', {
      n: formatCount(diff.length),
      most: formatCount(diffChars),
    });
  return '';
}

interface NotesProps {
  readonly work: Work;
  readonly note: string;
  readonly onFiles: () => void;
}

/** What came from outside, why it stands by itself, and why nothing can be changed. */
function Notes({ work, note, onFiles }: NotesProps) {
  const lines: ReactNode[] = [];
  if (work.source.off) lines.push(work.source.off);
  if (note) lines.push(note);
  if (work.apart) {
    const misfit = work.misfit();
    lines.push(
      <>
        {misfit && t('{misfit} It can be run as it is. ', { misfit })}
        {!misfit && (
          <button type="button" className="link small" onClick={() => work.take(work.diff())}>
            {t("put it on the arm's files")}
          </button>
        )}{' '}
        {work.files.length > 0 && (
          <button type="button" className="link small" onClick={onFiles}>
            {t("leave it for the arm's files")}
          </button>
        )}
      </>,
    );
  }
  return lines.map((line, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no names
    <p key={i} className="change-note small" data-testid="change-note">
      {line}
    </p>
  ));
}

interface ViewsProps {
  readonly now: View;
  readonly setView: (view: View) => void;
  readonly apart: boolean;
}

function Views({ now, setView, apart }: ViewsProps) {
  return (
    <fieldset className="segments" aria-label={t('View of the change')}>
      {views.map((name) => (
        <button
          key={name}
          type="button"
          className="button"
          aria-pressed={now === name}
          onClick={() => setView(name)}
          title={viewTitles[name]}
          data-testid={`view-${name}`}
          {...off(apart && name !== 'diff' && t('This patch does not fit the text of the arm.'))}
        >
          {viewNames[name]}
        </button>
      ))}
    </fieldset>
  );
}

function Tally({ diff }: { readonly diff: string }) {
  const { added, removed } = tallyOf(diff);
  return (
    <span className="quiet small number" data-testid="change-tally">
      {diff === '' ? t('as the arm has it') : `+${added} −${removed}`}
    </span>
  );
}

function NoDiff() {
  return <p className="quiet change-code">{t('Nothing is changed yet: there is no diff.')}</p>;
}
