// SPDX-License-Identifier: GPL-2.0-or-later
/** The part of a patch that matters, for a wall; lines whose function runs at the moment are lit. */

import { useMemo } from 'react';
import { t } from '../../base/lang/t.ts';
import {
  litLines,
  openFunctions,
  otherEnd,
  parsePatch,
  readsBackwards,
  turned,
} from '../../panels/patch.ts';
import { usePlayback } from '../../playback/hooks.tsx';
import { useMetrics } from '../../store/hooks.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { type ExcerptHunk, excerptOf, messageOf } from './excerpt.ts';

interface Props {
  readonly page: LessonModel;
  readonly arm: string;
  /** Parts of lines that are to be seen; none: those that run. */
  readonly at: readonly string[];
  /** Lines that there is room for. */
  readonly room: number;
}

export function PatchPart({ page: { lesson, index }, arm: name, at, room }: Props) {
  const arm = lesson.arms.find((one) => one.name === name);
  const { state } = usePlayback();
  const spans = useMetrics(name)?.spans;
  const other = (arm && otherEnd(lesson, arm)?.name) ?? null;
  const back = arm !== undefined && readsBackwards(arm);
  const files = useMemo(() => {
    const written = (arm?.patch_texts ?? []).flatMap((patch) => parsePatch(patch.text));
    return back ? turned(written) : written;
  }, [arm, back]);
  const lits = useMemo(
    () =>
      back
        ? litLines(lesson.lit, other ?? '', name, files)
        : litLines(lesson.lit, name, other, files),
    [lesson, name, other, back, files],
  );
  const kinds = useMemo(() => new Set(lesson.lit.map((lit) => lit.kind)), [lesson]);
  const open = useMemo(
    () => new Map([name, other ?? ''].map((one) => [one, openFunctions(index, state, one, kinds)])),
    [index, state, name, other, kinds],
  );
  const occurs = (kind: string) => spans === undefined || (spans[kind] ?? 0) > 0;
  const named = (line: ExcerptHunk['lines'][number]) => at.some((text) => line.text.includes(text));
  const runs = (line: ExcerptHunk['lines'][number]) => occurs(lits.get(line)?.lit.kind ?? '—');
  const excerpt = excerptOf(files, at.length > 0 ? named : runs, room);
  const colour = (kind: string) => lesson.kinds.find((k) => k.name === kind)?.colour ?? 'work';
  const lit = (line: ExcerptHunk['lines'][number]) => {
    const found = lits.get(line);
    if (found === undefined || !open.get(found.arm)?.get(found.lit.kind)) return undefined;
    return colour(found.lit.kind);
  };
  return (
    <section
      className="panel patch"
      aria-label={t('Patch of {title}', { title: arm?.title ?? name })}
      data-testid="patch"
    >
      <h3 className="eyebrow">
        {arm?.title}: {arm?.summary}
      </h3>
      {excerpt.hunks.map((hunk, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: hunks of one patch never move
        <div key={n} className="patch-file">
          <p className="patch-path">
            <code>{hunk.path}</code>
            <code>{hunk.where}</code>
          </p>
          <pre>
            {hunk.lines.map((line, i) => (
              <span
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of one hunk never move
                key={i}
                className="patch-line"
                data-sign={line.sign}
                data-lit={lit(line)}
                data-named={named(line) ? '' : undefined}
              >
                <i>{line.sign === '-' ? '−' : line.sign}</i>
                {line.text || ' '}
              </span>
            ))}
          </pre>
        </div>
      ))}
      {excerpt.left > 0 && (
        <p className="small quiet">
          {t(
            '{left, plural, one {# more changed line} other {# more changed lines}}: the lesson’s page has the whole patch.',
            { left: excerpt.left },
          )}
        </p>
      )}
    </section>
  );
}

/** What the patch's own message says, beside its lines. */
export function PatchMessage({ page: { lesson }, arm: name }: Pick<Props, 'page' | 'arm'>) {
  const arm = lesson.arms.find((one) => one.name === name);
  const { subject, body } = arm?.patch_texts.at(-1) ?? { subject: '', body: '' };
  return (
    <section className="patch-message" aria-label={t('Message of the patch')}>
      <h3>{subject}</h3>
      {messageOf(body).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </section>
  );
}
