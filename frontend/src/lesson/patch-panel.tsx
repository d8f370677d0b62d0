// SPDX-License-Identifier: GPL-2.0-or-later
/** The patch of each arm. A line is lit while its function runs on that arm at the moment. */

import { Tabs } from 'radix-ui';
import { useMemo } from 'react';
import { plural } from '../base/units.ts';
import type { Arm, Kind, Lesson, Lit } from '../protocol/lesson.ts';
import { type Hunk, type PatchLine, parsePatch } from './patch.ts';

/** How many rows stand inside a kind of span on an arm now. */
export type OpenCount = (arm: string, kind: string) => number;

interface Props {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly arm: string;
  readonly open: OpenCount;
  readonly onArm: (arm: string) => void;
}

export function PatchPanel({ lesson, arms, arm, open, onArm }: Props) {
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
            <ArmPatch lesson={lesson} arm={a} open={open} />
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
}

function ArmPatch({ lesson, arm, open }: ArmProps) {
  const files = useMemo(() => arm.patch_texts.flatMap((p) => parsePatch(p.text)), [arm]);
  if (files.length === 0)
    return (
      <p className="quiet no-patch">
        No patch: this is {lesson.base ? `Linux ${lesson.base}` : 'the base kernel'} as it comes.
        The others are compared with it.
      </p>
    );
  return (
    <>
      {files.map((file) => (
        <div key={file.path} className="patch-file">
          <p className="patch-path">
            <code>{file.path}</code>
            <span className="quiet number">
              +{file.added} −{file.removed}
            </span>
          </p>
          {file.hunks.map((hunk, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: hunks of one patch never move
            <HunkView key={i} lesson={lesson} arm={arm} hunk={hunk} open={open} />
          ))}
        </div>
      ))}
    </>
  );
}

function HunkView({ lesson, arm, hunk, open }: ArmProps & { readonly hunk: Hunk }) {
  const lits = useMemo(
    () => hunk.lines.map((line) => litOf(lesson.lit, arm.name, line)),
    [lesson, arm, hunk],
  );
  const indent = useMemo(() => commonIndent(hunk.lines), [hunk]);
  const added = hunk.lines.filter((l) => l.sign === '+').length;
  const removed = hunk.lines.filter((l) => l.sign === '-').length;
  const now = lits.flatMap((lit) => {
    const n = lit ? open(arm.name, lit.kind) : 0;
    return lit && n > 0 ? [{ lit, n }] : [];
  });
  return (
    <details className="hunk" open={lits.some(Boolean)}>
      <summary>
        <code>{hunk.where || 'top of the file'}</code>
        <span className="quiet number">
          +{added} −{removed}
        </span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so keys must reach it */}
      <pre tabIndex={0}>
        {hunk.lines.map((line, i) => {
          const lit = lits[i];
          const n = lit ? open(arm.name, lit.kind) : 0;
          return (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one hunk never move
              key={i}
              className="patch-line"
              data-sign={line.sign}
              data-lit={n > 0 ? colourOf(lesson.kinds, lit?.kind) : undefined}
              data-may-light={lit ? '' : undefined}
            >
              <i>{line.sign === '-' ? '−' : line.sign}</i>
              {line.text.slice(indent) || ' '}
            </span>
          );
        })}
      </pre>
      {now.map(({ lit, n }) => (
        <p key={lit.match} className="standing" data-testid="standing" data-volatile>
          {who(lesson, lit, n)} on the marked line now
        </p>
      ))}
    </details>
  );
}

function who(lesson: Lesson, lit: Lit, n: number): string {
  const reader = lesson.kinds.find((k) => k.name === lit.kind)?.name === 'reader';
  return `${plural(n, reader ? 'reader' : 'hog')} ${n === 1 ? 'stands' : 'stand'}`;
}

function litOf(lits: readonly Lit[], arm: string, line: PatchLine): Lit | undefined {
  if (line.sign === '-') return undefined;
  return lits.find(
    (lit) => line.text.includes(lit.match) && (lit.arms.length === 0 || lit.arms.includes(arm)),
  );
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
