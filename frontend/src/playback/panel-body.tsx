// SPDX-License-Identifier: GPL-2.0-or-later
/** A view's panel with its data: panels get all they show by props and read no store. */

import { useEffect, useMemo, useState } from 'react';
import type { Lesson, MeasuredTable } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { useLines, useMeasured, useStore } from '../store/hooks.tsx';
import type { Panel, PanelData, PanelProps } from '../views/contract.ts';

/** Tables recorded with the lesson, then those that were measured while this is mounted. */
function useTables(lesson: Lesson, newest: MeasuredMessage | null): readonly MeasuredTable[] {
  const [seen, setSeen] = useState<readonly MeasuredTable[]>([]);
  useEffect(() => {
    if (newest?.lesson === lesson.slug && newest.source === 'live' && newest.done >= newest.total)
      setSeen((old) => [...old, newest]);
  }, [newest, lesson.slug]);
  return useMemo(() => [...lesson.measured, ...seen], [lesson, seen]);
}

function usePanelData(lesson: Lesson, arms: readonly string[]): PanelData {
  const store = useStore();
  const measured = useMeasured();
  const tables = useTables(lesson, measured);
  // New lines of the first lane make the panel look at all of them.
  useLines(arms[0] ?? '');
  const run = store.shown();
  return { measured, tables, linesOf: (arm) => run?.lanes.get(arm)?.lines ?? [] };
}

export function PanelBody({
  panel: { Body },
  ...props
}: Omit<PanelProps, 'data'> & { readonly panel: Panel }) {
  const { lesson, runIndex } = props;
  const data = usePanelData(
    lesson,
    runIndex.lanes.map((lane) => lane.arm),
  );
  return <Body {...props} data={data} />;
}
