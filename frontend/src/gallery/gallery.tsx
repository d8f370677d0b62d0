// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A gallery of all views with recorded data. For each lesson it shows a picture, a sentence, a text alternative, panels
 * and a legend.
 */

import { useMemo, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { Exhibit, type Shown } from '../home/exhibit.tsx';
import { sceneOf } from '../navigation/navigation.ts';
import { Legend } from '../panels/legend.tsx';
import { ThemeButton } from '../panels/top-bar.tsx';
import {
  PanelBody,
  useCountTable,
  useNearby,
  usePlayback,
  useSentence,
  useSummary,
} from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { HeadRow, Mark } from '../ui/parts.tsx';
import { useTheme } from '../ui/theme.ts';
import { day, evidenceName } from '../ui/words.ts';
import { CountsTable } from '../views/arm-table.tsx';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { allViews, viewOf } from '../views/registry.ts';
import './gallery.css';

/** The page with all exhibits. */
export function Gallery({ slugs }: { readonly slugs: readonly string[] }) {
  return (
    <main className="gallery" data-testid="gallery">
      <header>
        <a className="brand" href="?">
          <Mark /> Kernel Duet
        </a>
        <ThemeButton />
      </header>
      <h1>{t('Gallery of views')}</h1>
      <p className="lead">
        {t(
          '{n} kinds of views, each with a recording of real kernels. There is no story here, and there are no knobs.',
          { n: allViews().size },
        )}
      </p>
      {slugs.map((slug) => (
        <Chosen key={slug} slug={slug} />
      ))}
    </main>
  );
}

function Chosen({ slug }: { readonly slug: string }) {
  const [id, setId] = useState<string | null>(null);
  return (
    <Exhibit
      slug={slug}
      pick={(lesson) => sceneOf(lesson, id)}
      frame={(lesson, scene, picture) => (
        <section className="exhibit" aria-labelledby={`exhibit-${slug}`}>
          <h2 id={`exhibit-${slug}`}>
            {lesson.view} <span className="quiet">{lesson.title}</span>
          </h2>
          <label className="small">
            {t('scene')}{' '}
            <select value={scene.id} onChange={(event) => setId(event.target.value)}>
              {lesson.scenes.map((s) => (
                <option key={s.id} value={s.id}>
                  {s.title}
                </option>
              ))}
            </select>
          </label>
          {picture}
        </section>
      )}
    >
      {(shown) => <Picture {...shown} />}
    </Exhibit>
  );
}

function Picture({ lesson, scene, index, recordedAt }: Shown) {
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
        <span className="evidence">
          {recordedAt
            ? t('counted, recorded {day}', { day: day(recordedAt) })
            : t('counted, recorded')}
        </span>{' '}
        {playback.state.speedWords}{' '}
        <button type="button" className="button" onClick={playback.toggle}>
          {playback.state.mode === 'paused' ? t('play') : t('pause')}
        </button>
      </p>
      <div className="exhibit-picture" style={{ height }} data-testid={`view-${view.kind}`}>
        <LaneCanvas
          view={view}
          {...shared}
          show={scene.show}
          header={header}
          onSeek={playback.seek}
          onWindow={playback.view}
        />
      </div>
      <Legend lesson={lesson} scene={scene} theme={theme} index={index} />
      <p data-volatile>{sentence}</p>
      <Words arms={lesson.arms.filter((arm) => scene.arms.includes(arm.name))} />
      <div className="exhibit-panels">
        {Object.entries(view.panels ?? {}).map(([name, panel]) => (
          <section key={name} className="panel" aria-label={panel.title}>
            <h3 className="eyebrow">
              {panel.title}{' '}
              <span className="evidence">
                {t('{how}, recorded', { how: evidenceName(panel.evidence) })}
              </span>
            </h3>
            <PanelBody {...shared} {...{ panel, scene }} recorded />
          </section>
        ))}
      </div>
    </>
  );
}

const rowsShown = 8;

/** The text alternative: counts, a description of the window, and the marks nearest to the moment. */
function Words({ arms }: { readonly arms: Lesson['arms'] }) {
  const counts = useCountTable();
  const summary = useSummary();
  const nearby = useNearby().slice(0, rowsShown);
  return (
    <details>
      <summary>{t('in words')}</summary>
      <ul className="summary">
        {summary.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {counts && <CountsTable arms={arms} counts={counts} />}
      <table className="table small">
        <HeadRow heads={[t('when'), t('lane'), t('row'), t('what'), t('for')]} />
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
