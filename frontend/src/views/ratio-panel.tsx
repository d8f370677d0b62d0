// SPDX-License-Identifier: GPL-2.0-or-later
/** One comparison in one table, a row for each clock and way of running that it stands on. */

import { t as tr } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
import { figure } from '../derive/figures.ts';
import { ratioRows } from '../derive/prediction.ts';
import { ArmTable } from './arm-table.tsx';
import type { Panel, PanelProps } from './contract.ts';

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
          'The clock decides what one of the {plural} costs beside the rest, and tracing makes it dearer: compare within a row. The run on the stage is compared over the guest time that all its lanes have.',
          { plural: operation.plural },
        )}
      </p>
    </>
  );
}

/** Of the run on the stage. */
function shownWords(arm: string, ratio: number | null | undefined): string {
  const words = wordsOf(ratio);
  return ratio == null ? words : figure('run', arm, 'ops for each 100', 100 * ratio, words);
}

/** As many digits as such a ratio carries. */
function wordsOf(ratio: number | null | undefined): string {
  return ratio == null ? '–' : formatFigure(Number((100 * ratio).toPrecision(2)));
}

export const ratioPanel: Panel = {
  title: tr('The same comparison on each clock'),
  evidence: 'measured',
  Body: RatioBody,
};
