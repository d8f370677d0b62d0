// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Names in index.html what a page needs for its first picture and would find only later: the script that connects to the
 * server, before all others, and the code and styles of the pages.
 */

import type { Plugin, Rolldown } from 'vite';

const entry = /(?=\s*<script type="module")/;
const firstStyle = /(?<=<link rel="stylesheet"[^>]*>)/;

/**
 * @param first module of the script that runs first
 * @param pages module that the page's script imports on demand, and always
 */
export function earlyFiles({ first, pages }: Readonly<Record<'first' | 'pages', string>>): Plugin {
  return {
    name: 'early-files',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        if (bundle === undefined) return html;
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const of = (module: string): Rolldown.OutputChunk => {
          const found = chunks.find(({ moduleIds }) => moduleIds.includes(module));
          if (found === undefined) throw new Error(`no chunk has ${module}`);
          return found;
        };
        const [own, app] = [of(first), of(pages)];
        const styles = [...(app.viteMetadata?.importedCss ?? [])].map(
          (name) => `\n    <link rel="stylesheet" crossorigin href="./${name}">`,
        );
        const early = `\n    <script type="module" async crossorigin src="./${own.fileName}"></script>`;
        const preload = `\n    <link rel="modulepreload" crossorigin href="./${app.fileName}">`;
        return html.replace(entry, early).replace(firstStyle, preload + styles.join(''));
      },
    },
  };
}
