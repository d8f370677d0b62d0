// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The right column: the evidence, and the patch, in which running lines are highlighted. On narrow screens, evidence
 * and patch are tabs.
 */

import { useMemo } from 'react';
import { rich, t } from '../base/lang/t.ts';
import { afterwards } from '../base/later.tsx';
import type { Theme } from '../base/theme.ts';
import { laneTime } from '../derive/align.ts';
import { gridsOf, runOf } from '../derive/grid.ts';
import { pickLanes } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import { knobsAt } from '../navigation/knobs.ts';
import { toCell } from '../navigation/navigation.ts';
import { type Place, sideTabs } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import { CountsPanel } from '../panels/counts-panel.tsx';
import { functionOf, nextMark, openFunctions, ranOn } from '../panels/patch.ts';
import type { Spoils } from '../panels/predict.ts';
import { Terms } from '../panels/terms/terms.tsx';
import { PanelBody, usePlayback } from '../playback/hooks.tsx';
import { Slot } from '../plugins.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { useMetrics } from '../store/hooks.tsx';
import { evidenceName } from '../ui/words.ts';
import { LatencyDots } from '../views/latency-dots/index.tsx';
import { viewOf } from '../views/registry.ts';

const GridPanel = afterwards(() => import('../panels/grid-panel.tsx').then((m) => m.GridPanel));
const PatchPanel = afterwards(() => import('../panels/patch-panel.tsx').then((m) => m.PatchPanel));
const MeasuredPanel = afterwards(() =>
  import('../panels/measured-panel.tsx').then((m) => m.MeasuredPanel),
);

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly index: RunIndex | null;
  readonly recorded: boolean;
  /** Lanes that the viewer may see before predicting; null if all lanes may be seen. */
  readonly known: readonly string[] | null;
  /** Whether a part of this column would answer a later step's question. */
  readonly spoils: Spoils;
  readonly theme: Theme;
  /** Whether the card of the step's prediction shows the curve, point by point. */
  readonly curveInStory: boolean;
  readonly measured: MeasuredMessage | null;
  readonly blocked: string;
  readonly onMeasure: () => void;
  readonly onKnob: (name: string, value: number) => void;
  readonly place: Place;
  readonly go: Go;
}

/**
 * Whether a step has anything to show in the right column. `known` lists the lanes that are shown before the guess; it
 * is null after the guess.
 */
export function hasSide(
  lesson: Lesson,
  scene: Scene,
  spoils: Spoils,
  known: readonly string[] | null,
): boolean {
  if (scene.show.some((what) => what === 'patch')) return true;
  return known?.length !== 0 && hasEvidence(lesson, scene, spoils);
}

function hasEvidence(lesson: Lesson, scene: Scene, spoils: Spoils): boolean {
  const panels = viewOf(lesson.view).panels ?? {};
  const evidence = (what: string) =>
    what === 'latency' ||
    what === 'measured' ||
    (what === 'grid' && gridsOf(lesson, scene).length > 0) ||
    what in panels;
  return scene.show.some((what) => evidence(what) && !spoils(what));
}

export function Side(props: Props) {
  const { lesson, scene, arms, place, go, known } = props;
  const index = props.index && known ? pickLanes(props.index, known) : props.index;
  const patch = scene.show.includes('patch');
  const measured = scene.show.includes('measured');
  const evidence = hasEvidence(lesson, scene, props.spoils);
  const tab = place.side ?? 'patch';
  const now = patch && (tab === 'patch' || !evidence) ? 'patch' : evidence ? 'evidence' : 'patch';
  return (
    // A scrollable box without focusable content needs a tabindex for keyboard users.
    <aside
      className="side"
      data-tab={now}
      aria-label={t('Patch and evidence')}
      data-testid="side"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable-region-focusable of axe
      tabIndex={0}
    >
      {patch && evidence && (
        <div className="tabs side-tabs" role="tablist" aria-label={t('Patch or evidence')}>
          {sideTabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              className="tab"
              aria-selected={now === name}
              data-state={now === name ? 'active' : 'inactive'}
              onClick={() => go({ side: name === 'patch' ? null : name }, 'replace')}
              data-testid={`tab-${name}`}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      {patch && (
        <div className="patch-side" style={{ order: measured ? 2 : 1 }}>
          <LitPatch {...{ lesson, arms, index, place, go }} />
        </div>
      )}
      {evidence && (known ? <Known {...props} {...{ index, known }} /> : <Evidence {...props} />)}
    </aside>
  );
}

/** The evidence before the guess, restricted to the lanes that are already shown. */
function Known(props: Props & { readonly known: readonly string[] }) {
  const { lesson, scene, index, recorded, theme, spoils, known } = props;
  const some = index !== null && index.lanes.length > 0;
  return (
    <div className="evidence-side">
      {some && scene.show.includes('latency') && !spoils('latency') && (
        <Latency {...{ lesson, index, recorded, theme }} />
      )}
      {some && !spoils('counts') && <CountsPanel {...{ lesson, recorded }} arms={known} />}
      <p className="small quiet" data-testid="after-guess">
        {t('The rest is shown after your guess.')}
      </p>
    </div>
  );
}

/** Charts, tables and counts of the step, except those that would answer a later step's question. */
function Evidence(props: Props) {
  const { lesson, scene, arms, index, recorded, theme, spoils, onKnob } = props;
  const { show } = scene;
  const shows = (what: string) => show.includes(what) && !spoils(what);
  const own = show.filter((name) => name in (viewOf(lesson.view).panels ?? {}));
  const asked = ['counts', 'latency', 'measured', ...own].some(spoils);
  return (
    <div className="evidence-side" style={{ order: show.includes('measured') ? 1 : 2 }}>
      {shows('measured') && (
        <MeasuredPanel
          lesson={lesson}
          measured={props.measured}
          blocked={props.blocked}
          onMeasure={props.onMeasure}
        />
      )}
      {shows('grid') && !props.curveInStory && <Grids {...props} />}
      {own.filter(shows).map((only) => (
        <ViewPanels key={only} {...{ lesson, scene, index, recorded, theme, onKnob, only }} />
      ))}
      {shows('latency') && <Latency {...{ lesson, index, recorded, theme }} />}
      {!spoils('counts') && <CountsPanel lesson={lesson} arms={arms} recorded={recorded} />}
      {asked && (
        <p className="small quiet" data-testid="asked-later">
          {t(
            'A later step asks about the other counts. Once you have answered, these counts appear here too.',
          )}
        </p>
      )}
    </div>
  );
}

/** The curves of the recorded grids. A click on a point opens the point's run, with the knobs of that run. */
function Grids({ lesson, scene, place, go }: Pick<Props, 'lesson' | 'scene' | 'place' | 'go'>) {
  const knobs = knobsAt(lesson, scene, place);
  return (
    <GridPanel
      {...{ lesson, scene }}
      params={knobs.params}
      shown={place.run ?? runOf(lesson, { ...knobs, arms: place.arms ?? scene.arms })?.name ?? null}
      onCell={(cell) => go(toCell(lesson, scene, knobs, cell))}
    />
  );
}

/** The panels of the lesson's view that the step names; `only` selects one of them. */
export function ViewPanels({
  lesson,
  scene,
  index,
  recorded,
  theme,
  onKnob,
  only,
}: Pick<Props, 'lesson' | 'scene' | 'index' | 'recorded' | 'theme' | 'onKnob'> & {
  readonly only?: string;
}) {
  const { frame } = usePlayback();
  if (index === null) return null;
  const panels = viewOf(lesson.view).panels ?? {};
  return (only === undefined ? scene.show : [only]).map((name) => {
    const panel = panels[name];
    if (panel === undefined) return null;
    return (
      <section key={name} className="panel" aria-label={panel.title} data-testid={`panel-${name}`}>
        <h3 className="eyebrow">
          <Terms text={panel.title} />{' '}
          <span className="evidence">
            {evidenceName(panel.evidence)}
            {recorded ? t(', recorded') : ''}
          </span>
        </h3>
        <PanelBody runIndex={index} {...{ panel, lesson, scene, frame, theme, recorded, onKnob }} />
      </section>
    );
  });
}

function LitPatch({
  lesson,
  arms,
  index,
  place,
  go,
}: Pick<Props, 'lesson' | 'arms' | 'index' | 'place' | 'go'>) {
  const { state, seek, select } = usePlayback();
  const arm = place.patch ?? '';
  const patched = lesson.arms.filter((a) => arms.includes(a.name) && a.patch_texts.length > 0);
  const chosen = arms.includes(arm) ? arm : (patched[0]?.name ?? arms[0] ?? '');
  const kinds = useMemo(() => new Set(lesson.lit.map((lit) => lit.kind)), [lesson]);
  const open = useMemo(
    () => new Map(arms.map((one) => [one, openFunctions(index, state, one, kinds)])),
    [index, state, arms, kinds],
  );
  const { selection } = state;
  const marked = useMemo(() => functionOf(index, selection, kinds), [index, selection, kinds]);
  const goTo = (of: string, kind: string) => {
    const mark = nextMark(index, of, kind, laneTime(state.offset, of, state.moment));
    if (mark === null) return;
    seek(mark.t0 + (state.offset.get(of) ?? 0));
    select(mark);
  };
  const spans = useMetrics(chosen)?.spans;
  return (
    <PatchPanel
      lesson={lesson}
      arms={arms}
      arm={chosen}
      onArm={(patch) => go({ patch, hunk: null }, 'replace')}
      hunk={place.hunk}
      onHunk={(hunk) => go({ patch: hunk === null ? place.patch : chosen, hunk }, 'replace')}
      occurs={(of, kind) =>
        of === chosen ? spans === undefined || (spans[kind] ?? 0) > 0 : ranOn(index, of, kind)
      }
      open={(of, kind) => open.get(of)?.get(kind) ?? 0}
      marked={marked}
      onMarks={goTo}
      tool={<Slot part="Tool" given={{ at: 'patch', arm: chosen }} />}
    />
  );
}

export function Latency({
  lesson,
  index,
  recorded,
  theme,
}: Pick<Props, 'lesson' | 'index' | 'recorded' | 'theme'>) {
  const { frame } = usePlayback();
  return (
    <section className="panel" aria-label={t('Latency')} data-testid="latency">
      <h3 className="eyebrow">
        {rich('Time of one {name} so far, guest time <span>counted{recorded}</span>', {
          name: lesson.operation.name,
          recorded: recorded ? t(', recorded') : '',
          span: (words) => <span className="evidence">{words}</span>,
        })}
      </h3>
      <div className="dots-box" style={{ height: 38 + (index?.lanes.length ?? 0) * 58 }}>
        {index && <LatencyDots runIndex={index} lesson={lesson} frame={frame} theme={theme} />}
      </div>
    </section>
  );
}
