// SPDX-License-Identifier: GPL-2.0-or-later
/** The patch of each arm. A line is lit while its function runs on that arm at the moment. */

import { Tabs } from 'radix-ui';
import { useEffect, useMemo, useRef } from 'react';
import { plural } from '../base/units.ts';
import type { Arm, Kind, Lesson, Lit } from '../protocol/lesson.ts';
import { PointIcon } from '../ui/icons.tsx';
import { type Hunk, type PatchFile, type PatchLine, parsePatch, tally } from './patch.ts';

/** How many rows stand inside a kind of span on an arm now. */
export type OpenCount = (arm: string, kind: string) => number;

interface Props {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly arm: string;
  readonly open: OpenCount;
  /** Whether a kind of function ran at all in the run on the stage. */
  readonly occurs: (kind: string) => boolean;
  readonly onArm: (arm: string) => void;
  /** The hunk of the arm that is pointed at, from 1. */
  readonly hunk?: number | null;
  readonly onHunk?: (hunk: number | null) => void;
}

export function PatchPanel({ lesson, arms, arm, open, occurs, onArm, hunk, onHunk }: Props) {
  const shown = lesson.arms.filter((a) => arms.includes(a.name));
  const chosen = shown.some((a) => a.name === arm) ? arm : (shown.at(-1)?.name ?? '');
  return (
    <section className="panel patch" aria-label="Patch" data-testid="patch">
      <h3 className="eyebrow">The patch, as it runs</h3>
      <Tabs.Root value={chosen} onValueChange={onArm}>
        <Tabs.List className="tabs" aria-label="Patch of the arm">
          {shown.map((a) => (
            <Tabs.Trigger key={a.name} value={a.name} className="tab">
              {a.title}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {shown.map((a) => (
          <Tabs.Content key={a.name} value={a.name}>
            <ArmPatch
              {...{ lesson, open, occurs }}
              arm={a}
              hunk={a.name === chosen ? (hunk ?? null) : null}
              onHunk={onHunk ?? null}
            />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  );
}

interface ArmProps {
  readonly lesson: Lesson;
  readonly arm: Arm;
  readonly open: OpenCount;
  readonly occurs: (kind: string) => boolean;
  readonly hunk: number | null;
  readonly onHunk: ((hunk: number | null) => void) | null;
}

function ArmPatch({ lesson, arm, open, occurs, hunk: pointed, onHunk }: ArmProps) {
  const files = useMemo(() => arm.patch_texts.flatMap((p) => parsePatch(p.text)), [arm]);
  const lits = useMemo(() => litLines(lesson.lit, arm.name, files), [lesson, arm, files]);
  const numbered = files.flatMap((file) => file.hunks);
  if (files.length === 0)
    return (
      <p className="quiet no-patch">
        No patch: this is {lesson.base ? `Linux ${lesson.base}` : 'the base kernel'} as it comes.
        The others are compared with it.
      </p>
    );
  return (
    <>
      {files.map((file) => {
        const near = file.hunks.filter((hunk) =>
          hunk.lines.some((line) => occurs(lits.get(line)?.kind ?? '')),
        );
        const far = file.hunks.filter((hunk) => !near.includes(hunk));
        const view = (hunk: Hunk) => {
          const number = numbered.indexOf(hunk) + 1;
          const at = { number, pointed: number === pointed, onHunk };
          return <HunkView key={number} {...{ lesson, arm, hunk, lits, open, ...at }} />;
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
                open={far.some((hunk) => numbered.indexOf(hunk) + 1 === pointed) || undefined}
              >
                <summary>
                  <span>{plural(far.length, 'more place', 'more places')}</span>
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

interface HunkProps extends Omit<ArmProps, 'occurs' | 'hunk'> {
  readonly hunk: Hunk;
  /** Its place in the arm's patch, from 1. */
  readonly number: number;
  readonly pointed: boolean;
  readonly lits: ReadonlyMap<PatchLine, Lit>;
}

function HunkView({ lesson, arm, hunk, lits, open, number, pointed, onHunk }: HunkProps) {
  const indent = useMemo(() => commonIndent(hunk.lines), [hunk]);
  const box = useRef<HTMLDivElement>(null);
  // A link brings the hunk into view; a click finds it there already.
  useEffect(() => {
    if (pointed) box.current?.scrollIntoView?.({ block: 'nearest' });
  }, [pointed]);
  const where = hunk.where || 'top of the file';
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
          aria-label={`Point at ${where}`}
          title={pointed ? 'let go of this place' : 'point at this place: the link will hold it'}
          onClick={() => onHunk(pointed ? null : number)}
          data-testid={`point-${number}`}
        >
          <PointIcon />
        </button>
      )}
      <details className="hunk" open>
        <summary>
          <code>{where}</code>
          <Balance {...tally([hunk])} />
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so keys must reach it */}
        <pre tabIndex={0}>
          {hunk.lines.map((line, i) => {
            const lit = lits.get(line);
            const n = lit ? open(arm.name, lit.kind) : 0;
            return (
              <span
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of one hunk never move
                key={i}
                className="patch-line"
                data-sign={line.sign}
                data-lit={n > 0 ? colourOf(lesson.kinds, lit?.kind) : undefined}
              >
                <i>{line.sign === '-' ? '−' : line.sign}</i>
                {line.text.slice(indent) || ' '}
                {lit && (
                  <span className="standing" data-testid={`standing-${lit.kind}`} data-volatile>
                    {who(lesson, lit, n)}
                  </span>
                )}
              </span>
            );
          })}
        </pre>
      </details>
    </div>
  );
}

function Balance({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="quiet number">
      +{added} −{removed}
    </span>
  );
}

function who(lesson: Lesson, lit: Lit, n: number): string {
  const one = lit.who || lesson.thread;
  if (n === 0) return `no ${one} stands on this line now`;
  return `${plural(n, one)} ${n === 1 ? 'stands' : 'stand'} on this line now`;
}

/** Each call is lit at its first line in the patch: the others are of functions that nobody is in. */
export function litLines(
  lits: readonly Lit[],
  arm: string,
  files: readonly PatchFile[],
): ReadonlyMap<PatchLine, Lit> {
  const found = new Map<PatchLine, Lit>();
  const lines = files.flatMap((file) => file.hunks).flatMap((hunk) => hunk.lines);
  for (const lit of lits) {
    if (lit.arms.length > 0 && !lit.arms.includes(arm)) continue;
    const line = lines.find((l) => l.sign !== '-' && l.text.includes(lit.match));
    if (line) found.set(line, lit);
  }
  return found;
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
