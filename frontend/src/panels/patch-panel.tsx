// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The patch of each arm. A line is highlighted while its function runs on the kernel that contains the line. One kernel
 * contains the added lines, the other kernel the removed lines.
 */

import { Tabs } from 'radix-ui';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { plural } from '../base/units.ts';
import type { Arm, Kind, Lesson, Lit } from '../protocol/lesson.ts';
import { isOwn, madeFrom } from '../store/changes.ts';
import { PointIcon } from '../ui/parts.tsx';
import {
  type Hunk,
  hunksThatMatter,
  type LitLine,
  litLines,
  otherEnd,
  type PatchLine,
  parsePatch,
  readsBackwards,
  tally,
  turned,
} from './patch.ts';

// A hunk: its lines, the state of these lines (running or not), and links from lines to the marks that they caused.

/** Functions that are called in the run on the stage. */
interface Running {
  /** Number of an arm's rows that are inside a function of this kind now. */
  readonly open: (arm: string, kind: string) => number;
  /** Whether a function of this kind ever ran on the arm. */
  readonly occurs: (arm: string, kind: string) => boolean;
  /** The function to which the selected mark belongs. */
  readonly marked?: { readonly arm: string; readonly kind: string } | null;
  /** Selects the next mark of a function. */
  readonly onMarks?: (arm: string, kind: string) => void;
}

interface HunkViewProps extends Running {
  readonly lesson: Lesson;
  readonly arm: Arm;
  readonly hunk: Hunk;
  /** Number of the hunk in the arm's patch, from 1. */
  readonly number: number;
  readonly pointed: boolean;
  readonly onHunk: ((hunk: number | null) => void) | null;
  readonly lits: ReadonlyMap<PatchLine, LitLine>;
}

function HunkView(props: HunkViewProps) {
  const { hunk, number, pointed, onHunk, lits, marked } = props;
  const indent = useMemo(() => commonIndent(hunk.lines), [hunk]);
  const box = useRef<HTMLDivElement>(null);
  const fold = useRef<HTMLDetailsElement>(null);
  const holds = hunk.lines.some((line) => isOf(lits.get(line), marked));
  // Scroll a hunk into view when a link or a mark selects it. A clicked hunk is already in view.
  useEffect(() => {
    if (holds && fold.current) fold.current.open = true;
    if (pointed || (holds && scrollsAlone(box.current)))
      box.current?.scrollIntoView?.({ block: 'nearest' });
  }, [pointed, holds]);
  const where = hunk.where || t('top of the file');
  return (
    <div
      ref={box}
      className="hunk-box"
      data-pointed={pointed ? '' : undefined}
      data-testid={`hunk-${number}`}
    >
      {onHunk && (
        <button
          type="button"
          className="hunk-point"
          aria-pressed={pointed}
          aria-label={t('Point at {where}', { where })}
          title={
            pointed
              ? t('deselect this hunk')
              : t('select this hunk; the link will include the hunk')
          }
          onClick={() => onHunk(pointed ? null : number)}
          data-testid={`point-${number}`}
        >
          <PointIcon />
        </button>
      )}
      <details className="hunk" open ref={fold}>
        <summary>
          <code>{where}</code>
          <Balance {...tally([hunk])} />
        </summary>
        <pre>
          {hunk.lines.map((line, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of one hunk never move
            <Line key={i} {...props} line={line} indent={indent} />
          ))}
        </pre>
      </details>
    </div>
  );
}

function isOf(found: LitLine | undefined, marked: Running['marked']): boolean {
  return found !== undefined && marked?.arm === found.arm && marked.kind === found.lit.kind;
}

function Line(props: HunkViewProps & { readonly line: PatchLine; readonly indent: number }) {
  const { lesson, arm, lits, line, indent, open, occurs, marked, onMarks } = props;
  const found = lits.get(line);
  const n = found ? open(found.arm, found.lit.kind) : 0;
  return (
    <span
      className="patch-line"
      data-sign={line.sign}
      data-lit={n > 0 ? colourOf(lesson.kinds, found?.lit.kind) : undefined}
      data-marked={isOf(found, marked) ? '' : undefined}
    >
      <i>{line.sign === '-' ? '−' : line.sign}</i>
      {line.text.slice(indent).trimEnd()}
      {found && (
        <span className="standing">
          <span data-testid={`standing-${found.lit.kind}`} data-volatile>
            {who(lesson, found, n, arm.name)}
          </span>
          {onMarks && occurs(found.arm, found.lit.kind) && (
            <button
              type="button"
              className="link small"
              aria-label={t('Show the next mark of {line}', { line: line.text.trim() })}
              onClick={() => onMarks(found.arm, found.lit.kind)}
              data-testid={`marks-${found.lit.kind}`}
            >
              {t('show the next')}
            </button>
          )}
        </span>
      )}
    </span>
  );
}

function Balance({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="quiet number">
      +{added} −{removed}
    </span>
  );
}

/**
 * "9 hogs are on this line now". The kernel's name is added if the line runs on a kernel that is not the kernel of this
 * tab.
 */
function who(lesson: Lesson, { lit, arm }: { lit: Lit; arm: string }, n: number, own: string) {
  const one = lit.who || lesson.thread;
  const title = lesson.arms.find(({ name }) => name === arm)?.title ?? arm;
  const on = arm === own ? '' : t(' on {title}', { title });
  if (n === 0) return t('no {one} is on this line now{on}', { one, on });
  return t('{n} {n2} on this line now{on}', {
    n: plural(n, one),
    n2: n === 1 ? t('is') : t('are'),
    on,
  });
}

function colourOf(kinds: readonly Kind[], name: string | undefined): string {
  return kinds.find((k) => k.name === name)?.colour ?? 'work';
}

function commonIndent(lines: readonly PatchLine[]): number {
  const depths = lines
    .filter((l) => l.text.trim())
    .map((l) => /^\t*/.exec(l.text)?.[0].length ?? 0);
  return depths.length > 0 ? Math.min(...depths) : 0;
}

/** Whether the patch scrolls independently of the picture. If it does, scrolling to a hunk leaves the mark in view. */
function scrollsAlone(box: HTMLElement | null): boolean {
  const side = box?.closest('.side') ?? null;
  return side === null || getComputedStyle(side).overflowY !== 'visible';
}

interface PatchPanelProps extends Running {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly arm: string;
  readonly onArm: (arm: string) => void;
  /** Number of the selected hunk in the arm's patch, from 1. */
  readonly hunk?: number | null;
  readonly onHunk?: (hunk: number | null) => void;
  /** A button next to the title that acts on the arm's patch. */
  readonly tool?: ReactNode;
}

export function PatchPanel({
  lesson,
  arms,
  arm,
  onArm,
  hunk,
  onHunk,
  tool,
  ...running
}: PatchPanelProps) {
  const shown = lesson.arms.filter((a) => arms.includes(a.name));
  const chosen = shown.some((a) => a.name === arm) ? arm : (shown.at(-1)?.name ?? '');
  return (
    <section className="panel patch" aria-label={t('Patch')} data-testid="patch">
      <div className="patch-head">
        <h3 className="eyebrow">{t('The patch, as it runs')}</h3>
        {tool}
      </div>
      <Tabs.Root value={chosen} onValueChange={onArm}>
        <Tabs.List className="tabs" aria-label={t('Patch of the arm')}>
          {shown.map((a) => (
            <Tabs.Trigger key={a.name} value={a.name} className="tab">
              {a.title}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {shown.map((a) => (
          <Tabs.Content key={a.name} value={a.name}>
            <ArmPatch
              {...running}
              lesson={lesson}
              arm={a}
              patch={patchOf(lesson, shown, a)}
              hunk={a.name === chosen ? (hunk ?? null) : null}
              onHunk={onHunk ?? null}
            />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  );
}

/**
 * The arm whose patch is shown for `arm`. If `arm` has patches, this is `arm` itself. Otherwise it is the arm of
 * `shown` that reverts a change of `arm`, or null if there is no such arm.
 */
function patchOf(lesson: Lesson, shown: readonly Arm[], arm: Arm): Arm | null {
  if (arm.patch_texts.length > 0) return arm;
  return (
    shown.find((one) => readsBackwards(one) && otherEnd(lesson, one)?.name === arm.name) ?? null
  );
}

interface ArmProps extends Running {
  readonly lesson: Lesson;
  readonly arm: Arm;
  readonly patch: Arm | null;
  readonly hunk: number | null;
  readonly onHunk: ((hunk: number | null) => void) | null;
}

function ArmPatch({ patch, ...props }: ArmProps) {
  const { base } = props.lesson;
  if (patch === null && props.arm.writes.length > 0) return <Settings {...props} />;
  if (patch === null)
    return (
      <p className="quiet no-patch">
        {t('No patch: this is unmodified {base}, the baseline of the others.', {
          base: base ? t('Linux {base}', { base }) : t('the base kernel'),
        })}
      </p>
    );
  return <PatchFiles key={patch.name} {...props} patch={patch} />;
}

/** What the guest of an arm without a patch writes, beside arms with the same kernel. */
function Settings({ lesson, arm }: Pick<ArmProps, 'lesson' | 'arm'>) {
  const sameKernel = lesson.arms.filter(
    (one) =>
      one.name !== arm.name &&
      one.base === arm.base &&
      one.config === arm.config &&
      one.patch_texts.length === 0,
  );
  return (
    <div className="no-patch" data-testid="settings">
      <p className="quiet">
        {sameKernel.length > 0
          ? t(
              'No patch: this is the kernel of {others}, byte for byte. A setting differs, which the guest writes before the workload:',
              {
                others: sameKernel.map(({ title }) => title).join(', '),
              },
            )
          : t(
              'No patch: this is an unmodified kernel with a setting, which the guest writes before the workload:',
            )}
      </p>
      <pre className="setting">{arm.writes.map(written).join('\n')}</pre>
    </div>
  );
}

/** 'PATH VALUE' as a shell would write it. */
const written = (line: string) => line.replace(/^(\S+) (.*)$/, 'echo $2 > $1');

function PatchFiles({
  lesson,
  arm,
  patch,
  hunk: pointed,
  onHunk,
  ...running
}: ArmProps & { readonly patch: Arm }) {
  const [back, setBack] = useState(readsBackwards(patch));
  // For a visitor's arm, show the visitor's change instead of the patches on which the change was based.
  const from = madeFrom(lesson, patch);
  const other = from ?? otherEnd(lesson, patch);
  // A recording may lack the text of the change.
  const own = from !== null && patch.patch_texts.length > from.patch_texts.length;
  const files = useMemo(() => {
    const texts = own ? patch.patch_texts.slice(-1) : patch.patch_texts;
    const written = texts.flatMap((p) => parsePatch(p.text));
    return back ? turned(written) : written;
  }, [patch, own, back]);
  const [comes, goes] = back ? [other, patch] : [patch, other];
  const lits = useMemo(
    () => litLines(lesson.lit, comes?.name ?? '', goes?.name ?? null, files),
    [lesson, comes, goes, files],
  );
  const numbered = files.flatMap((file) => file.hunks);
  const { occurs, marked } = running;
  const open = hunksThatMatter(files, (line) => {
    const found = lits.get(line);
    return found !== undefined && occurs(found.arm, found.lit.kind);
  });
  const isMarked = (hunk: Hunk) =>
    hunk.lines.some((line) => {
      const found = lits.get(line);
      return marked != null && found?.arm === marked.arm && found.lit.kind === marked.kind;
    });
  const title = (one: Arm | null) => one?.title ?? t('Linux {base}', { base: lesson.base ?? '' });
  return (
    <>
      <p className="patch-way small" data-testid="patch-way">
        <span>
          <b>−</b> {title(goes)} <b>+</b> {title(comes)}
        </span>
        <button
          type="button"
          className="link small"
          onClick={() => setBack(!back)}
          title={t('the same change, reversed')}
          data-testid="turn-round"
        >
          {t('reverse')}
        </button>
      </p>
      {isOwn(patch.name) && (
        <p className="quiet small" data-testid="visitors">
          {own
            ? t(
                'A visitor made this change to {from} on the page. The change is not part of the lesson.',
                {
                  from: title(from),
                },
              )
            : t(
                'A visitor changed this arm. The change itself is not on this page. Below is the patch that the visitor changed.',
              )}
        </p>
      )}
      {files.map((file) => {
        const near = file.hunks.filter((hunk) => open.has(hunk));
        const far = file.hunks.filter((hunk) => !near.includes(hunk));
        const view = (hunk: Hunk) => {
          const number = numbered.indexOf(hunk) + 1;
          const at = { number, pointed: number === pointed, onHunk };
          return (
            <HunkView
              key={`${back} ${number}`}
              {...{ lesson, arm, hunk, lits, ...running, ...at }}
            />
          );
        };
        return (
          <div key={file.path} className="patch-file">
            <p className="patch-path">
              <code>{file.path}</code>
              <Balance added={file.added} removed={file.removed} />
            </p>
            {near.map(view)}
            {far.length > 0 && near.length > 0 && (
              <details
                className="hunk more"
                open={
                  far.some((hunk) => numbered.indexOf(hunk) + 1 === pointed || isMarked(hunk)) ||
                  undefined
                }
              >
                <summary>
                  <span>
                    {t('{far, plural, one {# more place} other {# more places}}', {
                      far: far.length,
                    })}
                  </span>
                  <Balance {...tally(far)} />
                </summary>
                {far.map(view)}
              </details>
            )}
            {near.length === 0 && far.map(view)}
          </div>
        );
      })}
    </>
  );
}
