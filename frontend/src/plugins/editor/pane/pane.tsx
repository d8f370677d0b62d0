// SPDX-License-Identifier: GPL-2.0-or-later
/** The pane that changes a patch: an arm's code in an editor next to the lanes. Loaded when it is first opened. */

import './pane.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../../base/lang/t.ts';
import { formatCount } from '../../../base/units.ts';
import { saveFile } from '../../../panels/recap/memory.ts';
import type { SourceFile } from '../../../protocol/contract.gen.ts';
import type { ChangedMessage, JudgedMessage, Problem } from '../../../protocol/messages.ts';
import { changeable } from '../../../store/changes.ts';
import { useDenied, useJudged, useStore } from '../../../store/hooks.tsx';
import { copiedMs, off, useCopy, useMedia } from '../../../ui/parts.tsx';
import { sentenceCase } from '../../../ui/words.ts';
import {
  type Asked,
  armsBeside,
  type Door,
  laneWord,
  type Opened,
  readPatch,
  type Stage,
  stages,
} from '../door.tsx';
import { CodeView, DiffView, MergedView, type Target } from './code-view.tsx';
import { tallyOf } from './diff.ts';
import { linkChars, packChange } from './link.ts';
import { diffChars, placeOf, useVersion, useWork, type Work } from './work.ts';

// Tabs for the files that the lesson's patches touch, with the touched functions of the open file.

interface FilesBarProps {
  readonly files: readonly SourceFile[];
  readonly file: string;
  readonly changed: (name: string) => boolean;
  readonly onFile: (name: string) => void;
  readonly onRegion: (region: number) => void;
}

function FilesBar({ files, file, changed, onFile, onRegion }: FilesBarProps) {
  const open = files.find(({ name }) => name === file);
  const named = (open?.regions ?? []).flatMap((region, i) =>
    region.title === '' && open!.regions.length > 1 ? [] : [{ region, i }],
  );
  return (
    <div className="change-files">
      <div className="tabs" role="tablist" aria-label={t('Files that the patches touch')}>
        {files.map(({ name }) => (
          <button
            key={name}
            type="button"
            role="tab"
            className="tab"
            title={name}
            aria-selected={name === file}
            data-state={name === file ? 'active' : 'inactive'}
            onClick={() => onFile(name)}
          >
            <code>{name}</code>
            {changed(name) && (
              <span className="change-mark" title={t('changed by you')}>
                {' '}
                ●<span className="hidden-text"> {t('changed')}</span>
              </span>
            )}
          </button>
        ))}
      </div>
      {named.length > 0 && (
        <ul
          className="change-regions"
          aria-label={t('Functions in {file} that the patches change', { file })}
        >
          {named.map(({ region, i }) => (
            <li key={`${region.first} ${region.title}`}>
              <button type="button" className="link small" onClick={() => onRegion(i)}>
                <code>{region.title || t('line {first}', { first: region.first })}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Why a change does not run: it was refused, its patch does not apply, or the compiler reported problems.
// A problem in a file of the pane has a button that goes to its line.

interface ProblemsProps {
  readonly changed: ChangedMessage;
  /** Whether the pane can show this file. */
  readonly shown: (file: string) => boolean;
  readonly onGo: (problem: Problem) => void;
}

function Problems({ changed, shown, onGo }: ProblemsProps) {
  const { error, problems, phase, message } = changed;
  if (phase !== 'refused' && phase !== 'failed' && problems.length === 0) return null;
  const sentence = error?.sentence || message;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    errors > 0 && t('{errors, plural, one {# error} other {# errors}}', { errors }),
    warnings > 0 && t('{warnings, plural, one {# warning} other {# warnings}}', { warnings }),
  ].filter(Boolean);
  return (
    <section
      className="change-problems"
      aria-label={t('Why the change does not run')}
      data-testid="problems"
    >
      <div role="alert">
        {sentence && phase !== 'built' && <p>{sentenceCase(sentence)}</p>}
        {error?.remedy && <p className="quiet">{error.remedy}</p>}
        {counts.length > 0 && <p className="small quiet">{counts.join(', ')}</p>}
      </div>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem) => {
            const { file, line, column, severity, text } = problem;
            const where = `${file}:${line}${column > 0 ? `:${column}` : ''}`;
            return (
              <li key={`${where} ${text}`} data-severity={severity}>
                {shown(file) ? (
                  <button type="button" className="link" onClick={() => onGo(problem)}>
                    <code>{where}</code>
                  </button>
                ) : (
                  <code>{where}</code>
                )}{' '}
                <b>{severity === 'error' ? t('error') : t('warning')}</b> {text}
              </li>
            );
          })}
        </ul>
      )}
      {error?.detail && problems.length === 0 && <pre className="console">{error.detail}</pre>}
    </section>
  );
}

// Runs the change beside the step's lanes: the run button, the progress of its kernel, and the seconds since the click.

interface RunBarProps {
  readonly door: Door;
  readonly base: string;
  /** Why this change cannot run; empty if the change can run. */
  readonly why: string;
  readonly onRun: () => void;
}

function RunBar({ door, base, why, onRun }: RunBarProps) {
  const { asked, progress } = door;
  const mine = asked?.base === base ? asked : null;
  const going = asked !== null && progress?.over === 'not yet';
  const lanes = armsBeside(door.scene, base, '').length;
  const building = going && !asked.begun && t('Your change is being built.');
  return (
    <div className="change-run">
      <button
        type="button"
        className="button"
        data-strong
        onClick={onRun}
        data-testid="run-change"
        {...off(door.blocked || why || building)}
      >
        {t('run as {lane}', { lane: laneWord(lanes) })}
      </button>
      {going && !asked.begun && (
        <button type="button" className="button" onClick={door.giveUp} data-testid="give-up-change">
          {t('give up')}
        </button>
      )}
      {mine !== null && progress !== null ? (
        <Going asked={mine} door={door} />
      ) : (
        <p className="small quiet" data-testid="change-why">
          {door.blocked ||
            why ||
            t('The changed kernel is built first; meanwhile the lanes stay unchanged.')}
        </p>
      )}
    </div>
  );
}

/** Names of the stages in the progress row. */
const stageNames: Readonly<Record<Stage, string>> = {
  queue: t('queue'),
  compile: t('compile'),
  link: t('link'),
  boot: t('boot'),
  run: t('run'),
};

function Going({ asked, door }: { readonly asked: Asked; readonly door: Door }) {
  const { over, stage, words } = door.progress!;
  const seconds = useSeconds(asked.at, over !== 'not yet');
  const at = stages.indexOf(stage);
  return (
    <div className="change-going" data-over={over}>
      <ol aria-hidden="true">
        {stages.map((name, i) => (
          <li
            key={name}
            data-state={i < at || over === 'runs' ? 'done' : i === at ? 'now' : 'to come'}
          >
            {stageNames[name]}
          </li>
        ))}
      </ol>
      <p className="small">
        <span role="status" data-testid="change-phase" data-volatile>
          {words}
        </span>{' '}
        <span className="quiet number" data-testid="change-seconds" data-volatile>
          {over === 'not yet' ? `${seconds} s` : t('after {seconds} s', { seconds })}
        </span>
      </p>
    </div>
  );
}

/** Number of whole seconds since a time on this page's clock. Stops counting once `over` is true. */
function useSeconds(since: number, over: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    setNow(performance.now());
    if (over) return undefined;
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, [over]);
  return Math.max(0, Math.round((now - since) / 1000));
}

// Exports a change as a link or a file, and imports one from a file.

interface ShareProps {
  readonly name: string;
  readonly arm: string;
  readonly diff: string;
  readonly address: () => string;
  readonly onText: (text: string) => void;
  readonly onReset: () => void;
}

const unchanged = t('Nothing is changed yet.');

function Share({ name, arm, diff, address, onText, onReset }: ShareProps) {
  const [copied, copy] = useCopy(copiedMs);
  const [said, setSaid] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const link = async () => {
    const hash = await packChange({ arm, diff });
    setSaid(
      hash === null
        ? t(
            'A link can hold {n} characters, but this change is longer: download the patch and share that file.',
            { n: formatCount(linkChars) },
          )
        : '',
    );
    if (hash !== null) await copy(address() + hash);
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    const text = await readPatch(file);
    setSaid(text === null ? t('{name} is not a patch.', { name: file.name }) : '');
    if (text !== null) onText(text);
  };
  const none = diff === '' && unchanged;
  return (
    <div className="change-share">
      <button
        type="button"
        className="link small"
        onClick={() => void link()}
        data-testid="copy-change"
        {...off(none)}
      >
        {copied === 'copied'
          ? t('copied')
          : copied === 'refused'
            ? t('no clipboard here')
            : t('copy link')}
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => saveFile(`${name}.patch`, diff, 'text/x-patch')}
        data-testid="download-change"
        {...off(none)}
      >
        {t('download .patch')}
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => input.current?.click()}
        title={t('or drop the file on the page')}
      >
        {t('open a .patch')}
      </button>
      <input
        ref={input}
        type="file"
        accept=".patch,.diff,.mbox,.txt"
        hidden
        aria-label={t('A patch file')}
        onChange={(event) => {
          void take(event.target.files?.[0]);
          event.target.value = '';
        }}
        data-testid="patch-file"
      />
      <button
        type="button"
        className="link small"
        onClick={onReset}
        data-testid="reset-change"
        {...off(none)}
      >
        {t("back to the arm's text")}
      </button>
      {said && (
        <p className="small" role="status" data-testid="share-said">
          {said}
        </p>
      )}
    </div>
  );
}

// A lesson's challenges: what each challenge asks of the arm, and how the viewer's change was judged.
// Renders nothing if the lesson has no challenges.

interface ChallengesProps {
  readonly door: Door;
  /** The arm that was changed. */
  readonly base: string;
  /** The state of the newest change of this arm. */
  readonly changed: ChangedMessage | null;
}

const marks = new Map([
  [true, t('holds')],
  [false, t('fails')],
  [null, t('not judged')],
]);

function Challenges({ door, base, changed }: ChallengesProps) {
  const given = Object.entries(door.lesson.challenges);
  if (given.length === 0) return null;
  const titleOf = (arm: string) => door.lesson.arms.find((one) => one.name === arm)?.title ?? arm;
  return (
    <details className="change-challenges" data-testid="challenges">
      <summary>{t('{n} challenges', { n: given.length })}</summary>
      <ol>
        {given.map(([name, one]) => (
          <li key={name} data-testid={`challenge-${name}`}>
            <b>{one.title}</b>{' '}
            <span className="quiet small">{t('of {arm}', { arm: titleOf(one.arm) })}</span>
            <p>{one.ask}</p>
            <details>
              <summary className="small">{t('hint')}</summary>
              <p className="small">{one.hint}</p>
            </details>
            {one.arm === base ? (
              <Judging {...{ door, name, changed }} answer={one.answer} />
            ) : (
              <button type="button" className="link small" onClick={() => door.open(one.arm)}>
                {t('change {arm}', { arm: titleOf(one.arm) })}
              </button>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

interface JudgingProps {
  readonly door: Door;
  readonly name: string;
  readonly changed: ChangedMessage | null;
  readonly answer: string;
}

function Judging({ door, name, changed, answer }: JudgingProps) {
  const store = useStore();
  // In a lab with this challenge, students may have their changes judged. The server checks this permission.
  const inLab = new URLSearchParams(location.search).has('lab');
  const denied = useDenied(inLab ? 'answer' : 'measure');
  const judged = useJudged();
  const { slug } = door.lesson;
  const arm = changed?.phase === 'built' ? changed.arm : '';
  const mine = judged?.lesson === slug && judged.challenge === name ? judged : null;
  const going = mine !== null && mine.phase !== 'done' && mine.phase !== 'failed';
  return (
    <>
      <button
        type="button"
        className="button"
        onClick={() => store.command({ type: 'judge', lesson: slug, challenge: name, arm })}
        data-testid={`judge-${name}`}
        {...off(
          door.blocked ||
            denied ||
            (going && t('The change is being judged.')) ||
            (arm === '' && t('Run your change first: the challenge judges its kernel.')),
        )}
      >
        {t('judge my change')}
      </button>
      {mine !== null && <Verdict judged={mine} />}
      {mine?.met && <p className="small">{answer}</p>}
    </>
  );
}

function Verdict({ judged }: { readonly judged: JudgedMessage }) {
  return (
    <div className="change-verdict" data-met={judged.met}>
      <p role="status">{verdictOf(judged)}</p>
      <ul className="small">
        {judged.lines.map((line) => (
          <li key={`${line.kind} ${line.says}`} data-holds={line.holds}>
            <b>{marks.get(line.holds)}</b> {line.says}: {line.found}
            {line.wanted && t('; required: {wanted}', { wanted: line.wanted })}
          </li>
        ))}
      </ul>
    </div>
  );
}

function verdictOf({ phase, met, because, done, total }: JudgedMessage): string {
  if (phase === 'waiting') return because;
  if (phase === 'measuring')
    return total > 0
      ? t('guest {done} of {total} is running', { done: done + 1, total })
      : t('measuring');
  if (phase === 'building') return t('the debug kernel is being built');
  if (phase === 'stress') return t('stress test on the debug kernel, one or two minutes');
  if (phase === 'failed') return t('The change could not be judged. {because}', { because });
  return met ? t('Met. {because}', { because }) : t('Not met. {because}', { because });
}

interface ChangePaneProps {
  readonly door: Door;
  readonly opened: Opened;
}

/** Below this width there is no room for two texts side by side. */
const narrowPane = '(max-width: 760px)';

const views = ['edit', 'merge', 'diff'] as const;
type View = (typeof views)[number];

const viewNames: Readonly<Record<View, string>> = {
  edit: t('edit'),
  merge: t('merge'),
  diff: t('diff'),
};

const viewTitles: Readonly<Record<View, string>> = {
  edit: t('edit the code'),
  merge: t('your code beside the arm’s code'),
  diff: t('the change as a diff'),
};

export function ChangePane({ door, opened }: ChangePaneProps) {
  const loaded = useWork(door.lesson.slug, opened);
  const [view, setView] = useState<View>('edit');
  const box = useRef<HTMLElement>(null);
  const came = loaded.state === 'here';
  useEscape(door.close);
  // Focus the text field; before the text has loaded, focus the pane.
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
      {loaded.state === 'asking' && <p className="quiet">{t("Loading the arm's code…")}</p>}
      {loaded.state === 'failed' && <p role="alert">{loaded.sentence}</p>}
      {loaded.state === 'here' && (
        <Body key={opened.arm} {...{ door, opened, view, setView }} {...loaded} />
      )}
    </section>
  );
}

/** Esc closes the pane wherever the focus is, unless an open panel of the editor or a dialog uses the key first. */
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

function Head({ door, opened }: ChangePaneProps) {
  const arms = changeable(door.lesson);
  return (
    <header>
      <h2>{t('Change the patch')}</h2>
      <label className="change-arm">
        <span className="quiet small">{t('of')}</span>{' '}
        <select
          aria-label={t('The arm to change')}
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
        title={t('Esc; your text is kept')}
      >
        {t('close')}
      </button>
    </header>
  );
}

interface BodyProps extends ChangePaneProps {
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

/** Why a change cannot run; empty if the change can run. */
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

/**
 * Notes above the editor: where the change came from, why it is kept separate from the files, and why editing is off.
 */
function Notes({ work, note, onFiles }: NotesProps) {
  const lines: ReactNode[] = [];
  if (work.source.off) lines.push(work.source.off);
  if (note) lines.push(note);
  if (work.apart) {
    const misfit = work.misfit();
    lines.push(
      <>
        {misfit && t('{misfit} You can still run it unchanged. ', { misfit })}
        {!misfit && (
          <button type="button" className="link small" onClick={() => work.take(work.diff())}>
            {t("apply the diff to the arm's files")}
          </button>
        )}{' '}
        {work.files.length > 0 && (
          <button type="button" className="link small" onClick={onFiles}>
            {t("close the diff and show the arm's files")}
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
          {...off(apart && name !== 'diff' && t('This patch does not apply to the arm’s text.'))}
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
      {diff === '' ? t('same text as the arm') : `+${added} −${removed}`}
    </span>
  );
}

function NoDiff() {
  return <p className="quiet change-code">{t('Nothing is changed yet: there is no diff.')}</p>;
}
