// SPDX-License-Identifier: GPL-2.0-or-later
/** Texts of a lesson: Markdown with tables of figures, and sentences with `code`. */

import { t } from '../base/lang/t.ts';
import { Markdown } from '../ui/markdown.tsx';
import { useMarked } from './terms/terms.tsx';

/** Renders Markdown. react-markdown lacks tables, so they are extracted first. */
export function Prose({ text }: { readonly text: string }) {
  return parts(text).map((part, i) =>
    typeof part === 'string' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never move
      <Markdown key={i} components={headings}>
        {part}
      </Markdown>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never move
      <FigureTable key={i} {...part} />
    ),
  );
}

/** Renders one sentence with emphasis and code, without a paragraph around it. */
export function Inline({ text }: { readonly text: string }) {
  const { rehypePlugins, components } = useMarked();
  return (
    <Markdown rehypePlugins={rehypePlugins} components={{ ...components, ...bare }}>
      {text}
    </Markdown>
  );
}

interface Figures {
  /** For each column, whether its cells are numbers; those columns are right-aligned. */
  readonly right: readonly boolean[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function FigureTable({ right, head, rows }: Figures) {
  const side = (i: number) => (right[i] ? t('number right') : undefined);
  return (
    <table className="table figures">
      <thead>
        <tr>
          {head.map((cell, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
            <th key={i} scope="col" className={side(i)}>
              <Inline text={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.join('|')}>
            {row.map((cell, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <td key={i} className={side(i)}>
                <Inline text={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * Split a text into plain parts and tables. The lines of a table start and end with bars, and its second line separates
 * the head.
 */
export function parts(text: string): (string | Figures)[] {
  const found: (string | Figures)[] = [];
  let words: string[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (isRow(line) && /^[\s|:-]+$/.test(lines[at + 1] ?? '') && isRow(lines[at + 1] ?? '')) {
      let end = at;
      while (isRow(lines[end] ?? '')) end++;
      const [head = [], rule = [], ...rows] = lines.slice(at, end).map(cells);
      if (words.some((w) => w.trim())) found.push(words.join('\n'));
      words = [];
      found.push({ head, rows, right: rule.map((dashes) => /^-+:$/.test(dashes)) });
      at = end - 1;
    } else {
      words.push(line);
    }
  }
  if (words.some((w) => w.trim())) found.push(words.join('\n'));
  return found;
}

const isRow = (line: string) => /^\s*\|.*\|\s*$/.test(line);
const cells = (line: string) =>
  line
    .trim()
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

const bare = { p: ({ children }: { readonly children?: React.ReactNode }) => <>{children}</> };

/** Headings may contain ids of later steps, so they are rendered as plain text. */
const headings = {
  h1: ({ children }: { readonly children?: React.ReactNode }) => <h2>{asWords(children)}</h2>,
  h2: ({ children }: { readonly children?: React.ReactNode }) => <h2>{asWords(children)}</h2>,
};

function asWords(children: React.ReactNode): React.ReactNode {
  if (typeof children !== 'string' || !/^[a-z0-9][a-z0-9_-]*$/.test(children)) return children;
  const words = children.replaceAll(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
