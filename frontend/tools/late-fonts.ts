// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Moves the fonts' rules to a style sheet of their own, which the page adds after its first picture (src/ui/theme.ts). An
 * index.html names it in a <meta>; the list of a site names it, too (export/site.py).
 */

import type { Plugin } from 'vite';

const face = /@font-face\s*\{[^}]*\}/g;

export function lateFonts(): Plugin {
  let file = '';
  return {
    name: 'late-fonts',
    generateBundle: {
      // Before index.html is written.
      order: 'pre',
      handler(_, bundle) {
        const faces: string[] = [];
        for (const sheet of Object.values(bundle)) {
          if (sheet.type !== 'asset' || !sheet.fileName.endsWith('.css')) continue;
          const css = String(sheet.source);
          faces.push(...(css.match(face) ?? []));
          sheet.source = css.replaceAll(face, '');
        }
        const source = faces.join('\n');
        file = this.getFileName(this.emitFile({ type: 'asset', name: 'fonts.css', source }));
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) =>
        bundle === undefined
          ? html
          : html.replace(/(?=\s*<\/head>)/, `\n    <meta name="fonts" content="./${file}">`),
    },
  };
}
