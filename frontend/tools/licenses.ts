// SPDX-License-Identifier: GPL-2.0-or-later
/** Licence texts that many packages share are written once; each keeps its own copyright lines. Pure. */

const section = /^(?=## )/m;
const owned = /^\s*(copyright\s*)?(\(c\)|©|copyright\s+\d{4})/i;

/** @param text Markdown as Vite writes it: a heading for each package, then its licence */
export function sharedOnce(text: string): string {
  const first = new Map<string, string>();
  return text
    .split(section)
    .map((part) => {
      if (!part.startsWith('## ')) return part;
      const [heading = '', ...lines] = part.split('\n');
      const own = lines.filter((line) => owned.test(line));
      const rest = lines.filter((line) => !owned.test(line)).join('\n');
      const key = rest.replaceAll(/\W+/g, ' ').trim();
      const known = first.get(key);
      const name = heading.slice('## '.length).split(' - ')[0] ?? '';
      if (known === undefined) first.set(key, name);
      if (known === undefined || key === '') return part;
      const rule = rest.includes('\n---\n') ? '\n---\n' : '';
      return `${[heading, '', ...own.map((line) => line.trim())].join('\n')}\n\nThe text is that of ${known} above.\n${rule}\n`;
    })
    .join('');
}
