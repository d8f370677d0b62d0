// SPDX-License-Identifier: GPL-2.0-or-later
/** All figures of one moment of a step, by where they are written. */

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { lightTheme } from '../../src/base/theme.ts';
import { opsNow } from '../../src/derive/align.ts';
import { collect, type Figure, figure, lengthOf } from '../../src/derive/figures.ts';
import type { Frame, Mark, Region } from '../../src/derive/types.ts';
import type { Artist, Laid, PanelProps } from '../../src/views/contract.ts';
import { layoutDots } from '../../src/views/latency-dots/index.tsx';
import { namedTiles } from '../../src/views/paints.ts';
import { viewOf } from '../../src/views/registry.ts';
import { timeRows } from '../../src/views/timeline/panels.tsx';
import { allLooks } from '../fixtures/looks.ts';
import { recordingPen } from '../fixtures/pen.ts';
import type { ShownScene } from '../fixtures/recordings.ts';

/** What is written in one place. */
export interface Written {
  readonly where: string;
  readonly words: readonly string[];
  readonly figures: readonly Figure[];
  readonly regions: readonly Region[];
}

const size = { width: 1000, height: 700, dpr: 1 };

/** Writes what a page writes beside and in the picture. */
export class Writer {
  readonly shown: ShownScene;
  readonly #artist: Artist<Laid>;

  constructor(shown: ShownScene) {
    this.shown = shown;
    this.#artist = viewOf(shown.lesson.view).artist(shown.lesson, shown.scene.show);
  }

  #write(where: string, make: () => string | readonly string[]): Written {
    const { made, ...found } = collect(make);
    return { where, words: typeof made === 'string' ? [made] : made, ...found };
  }

  sentence(frame: Frame): Written {
    const { lesson, scene, index } = this.shown;
    const say = viewOf(lesson.view).sentences[scene.sentence];
    return this.#write('sentence', () => say?.(index, frame, lesson) ?? '');
  }

  /** Header of each lane, counts, and dots of latency: the run up to the moment. */
  sums(frame: Frame): readonly Written[] {
    const { lesson, scene, index } = this.shown;
    const view = viewOf(lesson.view);
    const cells = () => [...(view.counts?.(index, frame, lesson).rows.values() ?? [])].flat();
    const header = () =>
      index.lanes.map((lane) => figure('far', lane.arm, 'ops', opsNow(lane, frame)));
    const dots = () =>
      layoutDots(index, frame, size, (arm) => arm).rows.flatMap(({ n, mean, median }) => [
        n,
        mean,
        median,
      ]);
    const own = Object.entries(allLooks.get(lesson.view ?? '')?.sums ?? {});
    return [
      ...(lesson.operation.open === null ? [] : [this.#write('header', header)]),
      this.#write('counts', cells),
      ...(scene.show.includes('latency') ? [this.#write('latency', dots)] : []),
      ...own
        .filter(([name]) => scene.show.includes(name))
        .map(([name, figures]) => this.#write(name, () => figures(this.#props(frame)))),
    ];
  }

  /** What a panel is given at a moment. */
  #props(frame: Frame): PanelProps {
    const { lesson, scene, index, run } = this.shown;
    return {
      ...{ runIndex: index, lesson, scene, theme: lightTheme, recorded: true },
      frame: { get: () => frame, subscribe: () => () => {} },
      data: {
        ...{ measured: null, tables: lesson.measured, elsewhere: [] },
        linesOf: (arm: string) => run.lanes.get(arm)?.lines ?? [],
      },
    };
  }

  /** What stands in the panels beside the stage, as React writes it. */
  panels(frame: Frame): readonly Written[] {
    const { lesson, scene } = this.shown;
    const { panels = {} } = viewOf(lesson.view);
    const props = this.#props(frame);
    return scene.show.flatMap((name) => {
      const panel = panels[name];
      if (panel === undefined) return [];
      const html = () => renderToStaticMarkup(createElement(panel.Body, props));
      return [this.#write(`panel ${name}`, () => html().replaceAll(/<[^>]+>/g, ' '))];
    });
  }

  picture(frame: Frame): Written {
    const { lesson, scene, index } = this.shown;
    const { show } = scene;
    const drawing = { index, frame, size, lesson, theme: lightTheme, show };
    return this.#write('picture', () => {
      const { pen, log } = recordingPen();
      const layout = this.#artist.layout(drawing, 34, 13);
      this.#artist.draw(pen, layout, drawing, null, namedTiles);
      return log.flatMap(({ text }) => (text === undefined ? [] : [text]));
    });
  }

  /** How many outlines and lines the picture strokes. */
  strokes(frame: Frame): number {
    const { lesson, scene, index } = this.shown;
    const drawing = { index, frame, size, lesson, theme: lightTheme, show: scene.show };
    const { pen, log } = recordingPen();
    this.#artist.draw(pen, this.#artist.layout(drawing, 34, 13), drawing, null, namedTiles);
    return log.filter(({ what }) => what === 'stroke').length;
  }

  /** The picture in words, and the panel of time. */
  words(frame: Frame): readonly Written[] {
    const { lesson, scene, index } = this.shown;
    const view = viewOf(lesson.view);
    const time = () =>
      timeRows(index, frame).flatMap(({ of }) => index.lanes.map(({ arm }) => of(arm)));
    return [
      this.#write('summary', () => view.summary(index, frame, lesson)),
      this.#write('nearby', () => view.table(index, frame, lesson).map(({ length }) => length)),
      ...(scene.show.includes('time') ? [this.#write('time', time)] : []),
    ];
  }

  /** The tip of a mark; what a mark is long by its own ends is given, too. */
  tip(frame: Frame, mark: Mark): Written {
    const { lesson, index } = this.shown;
    const drawing = { index, frame, size, lesson, theme: lightTheme };
    return this.#write('tip', () => [this.#artist.describe(drawing, mark), lengthOf(mark)]);
  }
}
