// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The patch of each arm. A line is lit while its function runs at the moment, on the kernel that has the line: lines
 * that come on one end of the patch, lines that go on the other.
 */

import { Tabs } from 'radix-ui';
import { type ReactNode, useMemo, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Arm, Lesson } from '../protocol/lesson.ts';
import { isOwn, madeFrom } from '../store/changes.ts';
import { type Hunk, parsePatch, tally } from './patch.ts';
import { Balance, HunkView, type Running } from './patch-hunk.tsx';
import { hunksThatMatter, litLines, otherEnd, readsBackwards, turned } from './turned.ts';

interface Props extends Running {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly arm: string;
  readonly onArm: (arm: string) => void;
  /** The hunk of the arm that is pointed at, from 1. */
  readonly hunk?: number | null;
  readonly onHunk?: (hunk: number | null) => void;
  /** Stands beside the title: what can be done with the arm's patch. */
  readonly tool?: ReactNode;
}

export function PatchPanel({ lesson, arms, arm, onArm, hunk, onHunk, tool, ...running }: Props) {
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

/** The arm whose patch is shown: its own, or of a kernel that takes a change back, for the one that has it; null: none. */
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
  if (patch === null)
    return (
      <p className="quiet no-patch">
        {t('No patch: this is {base} as it comes. The others are compared with it.', {
          base: base ? t('Linux {base}', { base }) : t('the base kernel'),
        })}
      </p>
    );
  return <PatchFiles key={patch.name} {...props} patch={patch} />;
}

function PatchFiles({
  lesson,
  arm,
  patch,
  hunk: pointed,
  onHunk,
  ...running
}: ArmProps & { readonly patch: Arm }) {
  const [back, setBack] = useState(readsBackwards(patch));
  // Of a visitor's change it is the change that is read, not what it was made on.
  const from = madeFrom(lesson, patch);
  const other = from ?? otherEnd(lesson, patch);
  // What a recording has not brought is not here.
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
          title={t('the same change, read from its other end')}
          data-testid="turn-round"
        >
          {t('turn round')}
        </button>
      </p>
      {isOwn(patch.name) && (
        <p className="quiet small" data-testid="visitors">
          {own
            ? t("A visitor made this change of {from} on the page. It is not the lesson's.", {
                from: title(from),
              })
            : t(
                'A visitor changed this arm. The change itself is not here; below is what it was made on.',
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
