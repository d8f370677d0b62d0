// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures with a row each and a column an arm: there are more figures than arms. */

import type { Counts } from './contract.ts';

interface Props {
  readonly arms: readonly { readonly name: string; readonly title: string }[];
  readonly rows: readonly {
    readonly head: string;
    /** Where the figure comes from, on hover. */
    readonly evidence?: string;
    /** The same in sight, where the rows of a table differ. */
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

/** What a view counts. */
export function CountsTable({ arms, counts }: Pick<Props, 'arms'> & { readonly counts: Counts }) {
  const rows = counts.heads.map((head, i) => ({
    head,
    badge: counts.evidence?.[i],
    of: (arm: string) => counts.rows.get(arm)?.[i] ?? '–',
  }));
  return <ArmTable arms={arms} rows={rows} />;
}
