// SPDX-License-Identifier: GPL-2.0-or-later
/** The catalogue of views, out of the page's own code. */

import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import type { Texts } from '../src/views/about.ts';
import type { ViewKind } from '../src/views/contract.ts';
import { lessonViews } from './lesson-views.ts';

interface Page {
  readonly views: ReadonlyMap<string, ViewKind>;
  readonly common: Readonly<Record<string, Texts>>;
  readonly commonMoments: readonly string[];
}

/** A view's index.tsx has JSX, and the registry finds views by Vite's glob: so Vite loads them. */
async function loadPage(): Promise<Page> {
  const server = await createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    plugins: [lessonViews()],
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
    oxc: { jsx: { runtime: 'automatic' } },
    server: { middlewareMode: true, watch: null, hmr: false },
  });
  try {
    const registry = await server.ssrLoadModule('/src/views/registry.ts');
    const about = await server.ssrLoadModule('/src/views/about.ts');
    const moments = await server.ssrLoadModule('/src/derive/moments.ts');
    return {
      views: await registry['loadAllViews'](),
      common: about['commonAbout'],
      commonMoments: moments['commonMoments'],
    };
  } finally {
    await server.close();
  }
}

/** Names that have no text, and texts of names that do not exist, each as a sentence. */
export function mismatches(where: string, names: readonly string[], texts: Texts = {}): string[] {
  const without = names.filter((name) => !texts[name]?.trim());
  const unknown = Object.keys(texts).filter((name) => !names.includes(name));
  return [
    ...without.map((name) => `${where} '${name}' has no text in about.ts`),
    ...unknown.map((name) => `about.ts has a text for ${where} '${name}', which does not exist`),
  ];
}

/** What is wrong with the texts of a view. */
export function wrongIn(view: ViewKind): string[] {
  const { about, kind } = view;
  const of = (what: string) => `the ${what} of ${kind}`;
  const names = (record: object = {}) => Object.keys(record);
  return [
    ...mismatches(of('sentence'), names(view.sentences), about.sentences),
    ...mismatches(of('moment'), names(view.moments), about.moments),
    ...mismatches(of('answer'), names(view.answers), about.answers),
    ...mismatches(of('panel'), names(view.panels), about.panels),
    ...mismatches(of('toy'), names(view.toys), about.toys),
    ...mismatches(of('knob'), view.knobs ?? [], about.knobs),
    ...mismatches(of('table'), view.counts ? ['counts'] : [], textsOf(about.counts)),
  ];
}

function textsOf(counts: string | undefined): Texts {
  return counts === undefined ? {} : { counts };
}

/** One view in the shape that backend/src/duet/lessons/view.py reads. */
function entry({ about, panels = {} }: ViewKind) {
  const shown = Object.entries(panels).map(([name, { title, evidence }]) => {
    return [name, { title, evidence, about: about.panels?.[name] ?? '' }] as const;
  });
  return {
    draws: about.draws,
    needs: about.needs,
    points: about.points ?? {},
    layers: about.layers ?? [],
    marks: about.marks ?? [],
    only_in_focus: about.onlyInFocus ?? null,
    sentences: about.sentences,
    moments: about.moments ?? {},
    answers: about.answers ?? {},
    panels: Object.fromEntries(shown),
    parts: about.parts ?? {},
    toys: about.toys ?? {},
    quantities: about.quantities ?? {},
    knobs: about.knobs ?? {},
    counts: about.counts ?? '',
  };
}

/** views.gen.json. Throws where a view and its about.ts differ. */
export async function viewsText(): Promise<string> {
  const { views, common, commonMoments } = await loadPage();
  const wrong = [
    ...mismatches('the common moment', ['newest', ...commonMoments], common['moments']),
    ...[...views.values()].flatMap(wrongIn),
  ];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  const sorted = [...views].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const kinds = Object.fromEntries(sorted.map(([kind, view]) => [kind, entry(view)]));
  return `${JSON.stringify({ common, views: kinds }, null, 1)}\n`;
}
