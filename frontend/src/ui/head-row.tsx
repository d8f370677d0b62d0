// SPDX-License-Identifier: GPL-2.0-or-later
/** The head of a table: one word a column. */

export function HeadRow({ heads }: { readonly heads: readonly string[] }) {
  return (
    <thead>
      <tr>
        {heads.map((head) => (
          <th key={head} scope="col">
            {head}
          </th>
        ))}
      </tr>
    </thead>
  );
}
