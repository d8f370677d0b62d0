// SPDX-License-Identifier: GPL-2.0-or-later
/** Beside the stage: what was counted, what the model predicts, which way the lock's operations took. */

import { t } from '../../base/lang/t.ts';
import type { Panel } from '../contract.ts';
import { CountedPanel } from './counted-panel.tsx';
import { ModelPanel } from './model-panel.tsx';
import { PathPanel } from './path-panel.tsx';

export const panels: Readonly<Record<string, Panel>> = {
  counted: { title: t('Accesses of one operation'), evidence: 'counted', Body: CountedPanel },
  model: { title: t('Two to 64 CPUs'), evidence: 'modelled', Body: ModelPanel },
  path: { title: t('By swap or under the lock'), evidence: 'counted', Body: PathPanel },
};
