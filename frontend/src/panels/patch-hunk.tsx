// SPDX-License-Identifier: GPL-2.0-or-later
/** One place of a patch: its lines, those that run, and the way from a line to the marks it caused and back. */

import { useEffect, useMemo, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import { plural } from '../base/units.ts';
import type { Arm, Kind, Lesson, Lit } from '../protocol/lesson.ts';
import { PointIcon } from '../ui/parts.tsx';
import { type Hunk, type PatchLine, tally } from './patch.ts';
import type { LitLine } from './turned.ts';

/** What the run on the stage says of the functions that reach a line. */
export interface Running {
  /** How many rows stand inside a kind of span on an arm now. */
  readonly open: (arm: string, kind: string) => number;
  /** Whether a kind of function ran at all on the arm. */
  readonly occurs: (arm: string, kind: string) => boolean;
  /** The function that the selected mark is of. */
  readonly marked?: { readonly arm: string; readonly kind: string } | null;
  /** Goes to the next mark of a function. */
  readonly onMarks?: (arm: string, kind: string) => void;
}

interface Props extends Running {
  readonly lesson: Lesson;
  readonly arm: Arm;
  readonly hunk: Hunk;
  /** Its place in the arm's patch, from 1. */
  readonly number: number;
  readonly pointed: boolean;
  readonly onHunk: ((hunk: number | null) => void) | null;
  readonly lits: ReadonlyMap<PatchLine, LitLine>;
}

export function HunkView(props: Props) {
  const { hunk, number, pointed, onHunk, lits, marked } = props;
  const indent = useMemo(() => commonIndent(hunk.lines), [hunk]);
  const box = useRef<HTMLDivElement>(null);
  const fold = useRef<HTMLDetailsElement>(null);
  const holds = hunk.lines.some((line) => isOf(lits.get(line), marked));
  // A link, or a mark of the picture, brings the hunk into view; a click finds it there already.
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
            pointed ? t('let go of this place') : t('point at this place: the link will hold it')
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

function Line(props: Props & { readonly line: PatchLine; readonly indent: number }) {
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

export function Balance({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="quiet number">
      +{added} −{removed}
    </span>
  );
}

/** "9 hogs stand on this line now", of another kernel than the tab's with its name. */
function who(lesson: Lesson, { lit, arm }: { lit: Lit; arm: string }, n: number, own: string) {
  const one = lit.who || lesson.thread;
  const title = lesson.arms.find(({ name }) => name === arm)?.title ?? arm;
  const on = arm === own ? '' : t(' on {title}', { title });
  if (n === 0) return t('no {one} stands on this line now{on}', { one, on });
  return t('{n} {n2} on this line now{on}', {
    n: plural(n, one),
    n2: n === 1 ? t('stands') : t('stand'),
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

/** Whether the patch scrolls beside the picture: a mark that is pointed at does not move the page away from itself. */
function scrollsAlone(box: HTMLElement | null): boolean {
  const side = box?.closest('.side') ?? null;
  return side === null || getComputedStyle(side).overflowY !== 'visible';
}
