// SPDX-License-Identifier: GPL-2.0-or-later
/** Every kind of view on recorded data, one exhibit a lesson: picture, sentence, twin in words, panels, legend. */

import { useEffect, useLayoutEffect, useMemo, useState } from 'react';
import type { RunIndex } from '../derive/types.ts';
import { Legend } from '../lesson/legend.tsx';
import { sceneOf } from '../lesson/page.tsx';
import { bestRecording, recordingId } from '../lesson/recording.ts';
import { ThemeButton } from '../lesson/tools.tsx';
import { useSettled } from '../lesson/use-scene.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { connect } from '../store/connect.ts';
import { StoreProvider, useCommands, useLesson, useRun } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';
import { Mark } from '../ui/icons.tsx';
import { useTheme } from '../ui/theme.ts';
import { day } from '../ui/words.ts';
import {
  PlaybackProvider,
  useCountTable,
  useNearby,
  usePlayback,
  useRunIndex,
  useSentence,
  useSummary,
} from '../views/hooks.tsx';
import { allViews, viewOf } from '../views/registry.ts';
import type { Counts } from '../views/types.ts';
import './gallery.css';

/** The page of exhibits. */
export function Gallery({ slugs }: { readonly slugs: readonly string[] }) {
  return (
    <main className="gallery" data-testid="gallery">
      <header>
        <a className="brand" href="?">
          <Mark /> Kernel Duet
        </a>
        <ThemeButton />
      </header>
      <h1>Gallery of views</h1>
      <p className="lead">
        {allViews().size} kinds of view, each on a recording of real kernels. Space for nothing
        else: no story, no knobs.
      </p>
      {slugs.map((slug) => (
        <Exhibit key={slug} slug={slug} />
      ))}
    </main>
  );
}

/** A lesson with a store and a socket of its own, so that exhibits do not share a run. */
function Exhibit({ slug }: { readonly slug: string }) {
  const [store] = useState(() => new Store());
  useLayoutEffect(() => {
    const socket = connect(store);
    return () => socket.close();
  }, [store]);
  return (
    <StoreProvider store={store}>
      <Opened slug={slug} />
    </StoreProvider>
  );
}

function Opened({ slug }: { readonly slug: string }) {
  const lesson = useLesson();
  const { open } = useCommands();
  useEffect(() => open(slug), [open, slug]);
  if (lesson === null) return <p className="quiet">{slug} is on its way…</p>;
  if (!allViews().has(lesson.view)) return <p role="alert">No view of kind {lesson.view}.</p>;
  return <Chosen lesson={lesson} />;
}

function Chosen({ lesson }: { readonly lesson: Lesson }) {
  const [id, setId] = useState<string | null>(null);
  const scene = sceneOf(lesson, id);
  const best = bestRecording(lesson, scene);
  const { open } = useCommands();
  const wanted = best ? recordingId(lesson, best) : null;
  useEffect(() => {
    if (wanted !== null) open(lesson.slug, wanted);
  }, [open, lesson.slug, wanted]);
  return (
    <section className="exhibit" aria-labelledby={`exhibit-${lesson.slug}`}>
      <h2 id={`exhibit-${lesson.slug}`}>
        {lesson.view} <span className="quiet">{lesson.title}</span>
      </h2>
      <label className="small">
        scene{' '}
        <select value={scene.id} onChange={(event) => setId(event.target.value)}>
          {lesson.scenes.map((s) => (
            <option key={s.id} value={s.id}>
              {s.title}
            </option>
          ))}
        </select>
      </label>
      {wanted === null ? (
        <p className="quiet">Nothing is recorded of this lesson yet.</p>
      ) : (
        <PlaybackProvider arms={scene.arms}>
          <Shown lesson={lesson} scene={scene} wanted={wanted} />
        </PlaybackProvider>
      )}
    </section>
  );
}

function Shown(props: { readonly lesson: Lesson; readonly scene: Scene; readonly wanted: string }) {
  const { lesson, scene, wanted } = props;
  const index = useRunIndex();
  const run = useRun();
  const settled = useSettled(index?.runId === wanted ? index : null);
  const { goto, align } = usePlayback();
  useEffect(() => {
    if (!settled) return;
    goto(scene, true);
    align(scene.align, scene.operation);
    goto(scene, true);
  }, [settled, scene, goto, align]);
  if (index === null || !settled || run?.run_id !== wanted) {
    return <p className="quiet">The recording is on its way…</p>;
  }
  return <Picture lesson={lesson} scene={scene} index={index} recordedAt={run.recorded_at} />;
}

interface PictureProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly index: RunIndex;
  readonly recordedAt: string | null;
}

function Picture({ lesson, scene, index, recordedAt }: PictureProps) {
  const theme = useTheme();
  const playback = usePlayback();
  const sentence = useSentence(scene.sentence);
  const view = viewOf(lesson.view);
  const shared = { runIndex: index, lesson, frame: playback.frame, theme };
  const header = useMemo(
    () => (arm: string) => (
      <h3 className="exhibit-lane">{lesson.arms.find((a) => a.name === arm)?.title ?? arm}</h3>
    ),
    [lesson],
  );
  const height = view.preferredHeight(index, lesson, scene.show);
  return (
    <>
      <p className="small quiet">
        <span className="evidence">counted, recorded{recordedAt && ` ${day(recordedAt)}`}</span>{' '}
        {playback.state.speedWords}{' '}
        <button type="button" className="button" onClick={playback.toggle}>
          {playback.state.mode === 'paused' ? 'play' : 'pause'}
        </button>
      </p>
      <div className="exhibit-picture" style={{ height }} data-testid={`view-${view.kind}`}>
        <view.Canvas {...shared} show={scene.show} header={header} onSeek={playback.seek} />
      </div>
      <Legend lesson={lesson} scene={scene} theme={theme} />
      <p data-volatile>{sentence}</p>
      <Words />
      <div className="exhibit-panels">
        {Object.entries(view.panels ?? {}).map(([name, { title, evidence, Body }]) => (
          <section key={name} className="panel" aria-label={title}>
            <h3 className="eyebrow">
              {title} <span className="evidence">{evidence}, recorded</span>
            </h3>
            <Body {...shared} scene={scene} recorded />
          </section>
        ))}
      </div>
    </>
  );
}

const rowsShown = 8;

/** The twin: counts, the window in words, the nearest marks. */
function Words() {
  const counts = useCountTable();
  const summary = useSummary();
  const nearby = useNearby().slice(0, rowsShown);
  return (
    <details>
      <summary>in words</summary>
      <ul className="summary">
        {summary.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {counts && <CountTable counts={counts} />}
      <table className="table small">
        <thead>
          <tr>
            {['when', 'lane', 'row', 'what', 'for'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nearby.map(({ mark, when, lane, row, what, length }) => (
            <tr key={`${mark.arm} ${mark.table} ${mark.kind} ${mark.row} ${mark.id}`}>
              <td className="number">{when}</td>
              <td>{lane}</td>
              <td>{row}</td>
              <td>{what}</td>
              <td>{length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function CountTable({ counts }: { readonly counts: Counts }) {
  return (
    <table className="table small">
      <thead>
        <tr>
          <th scope="col">arm</th>
          {counts.heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[...counts.rows].map(([arm, cells]) => (
          <tr key={arm}>
            <th scope="row">{arm}</th>
            {counts.heads.map((head, i) => (
              <td key={head}>{cells[i]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
