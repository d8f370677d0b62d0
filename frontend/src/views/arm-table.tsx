// SPDX-License-Identifier: GPL-2.0-or-later
/** A table of figures, with a row per figure and a column per arm. */

import { t as tr } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
import { figure } from '../derive/figures.ts';
import { ratioRows } from '../derive/prediction.ts';
import type { Counts, Panel, PanelProps } from './contract.ts';

interface Props {
  readonly arms: readonly { readonly name: string; readonly title: string }[];
  readonly rows: readonly {
    readonly head: string;
    /** How the figure was obtained; shown as a tooltip. */
    readonly evidence?: string;
    /** A visible badge for the row's kind of evidence, in tables that mix several kinds. */
    readonly badge?: string | undefined;
    readonly of: (arm: string) => string;
  }[];
  readonly testId?: string | undefined;
}

export function ArmTable({ arms, rows, testId }: Props) {
  return (
    <table className="table small arm-table" data-testid={testId}>
      <thead>
        <tr>
          <td />
          {arms.map((arm) => (
            <th key={arm.name} scope="col" className="right">
              {arm.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody data-volatile>
        {rows.map(({ head, evidence, badge, of }) => (
          <tr key={head}>
            <th scope="row" title={evidence}>
              {head} {badge !== undefined && <span className="evidence">{badge}</span>}
            </th>
            {arms.map(({ name }) => (
              <td key={name} className="right" data-arm={name} data-head={head}>
                {of(name)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A table of the counts that a view provides. */
export function CountsTable({ arms, counts }: Pick<Props, 'arms'> & { readonly counts: Counts }) {
  const rows = counts.heads.map((head, i) => ({
    head,
    badge: counts.evidence?.[i],
    of: (arm: string) => counts.rows.get(arm)?.[i] ?? '–',
  }));
  return <ArmTable arms={arms} rows={rows} />;
}

// A table of the ratios between arms. A row is from a publication, untraced runs on one clock, or the run on the stage.

function RatioBody({ lesson, scene, runIndex, data }: PanelProps) {
  const { arms, params } = scene;
  const { published, workloads, operation } = lesson;
  const rows = ratioRows(
    { lesson: { published, workloads, measured: data.tables }, arms, params },
    runIndex,
  );
  const named = arms.flatMap((arm) => lesson.arms.find(({ name }) => name === arm) ?? []);
  const [base, ...others] = named;
  return (
    <>
      <p className="small">
        {tr('{plural}, for each 100 on {title}', { plural: operation.plural, title: base?.title })}
      </p>
      <ArmTable
        arms={others}
        rows={rows.map(({ head, of, run }) => ({
          head,
          of: (arm) => (run ? shownWords(arm, of.get(arm)) : wordsOf(of.get(arm))),
        }))}
        testId="ratios"
      />
      <p className="small quiet">
        {tr(
          'The cost of the {plural} depends on the clock, and tracing adds to the cost, so compare only numbers in the same row. The run on the stage is compared over the guest time that all its lanes cover.',
          { plural: operation.plural },
        )}
      </p>
    </>
  );
}

/** Format the ratio in the run on the stage. */
function shownWords(arm: string, ratio: number | null | undefined): string {
  const words = wordsOf(ratio);
  return ratio == null ? words : figure('run', arm, 'ops for each 100', 100 * ratio, words);
}

/** Format 100 times a ratio, with two significant digits. */
function wordsOf(ratio: number | null | undefined): string {
  return ratio == null ? '–' : formatFigure(Number((100 * ratio).toPrecision(2)));
}

export const ratioPanel: Panel = {
  title: tr('The same comparison on each clock'),
  evidence: 'measured',
  Body: RatioBody,
};
