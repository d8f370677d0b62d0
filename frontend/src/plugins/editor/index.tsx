// SPDX-License-Identifier: GPL-2.0-or-later
/** The editor: a visitor changes the patch of an arm, and runs the result as an additional lane. */

import type { Plugin } from '../../plugins.tsx';
import { DoorProvider } from './door.tsx';
import { ChangeButton, ChangeNews, ChangePane, useChanging } from './entry.tsx';

export const plugin: Plugin = {
  name: 'editor',
  // Wraps slides as well, so that a built change starts its run even if the viewer has left the lesson page.
  AroundLesson: DoorProvider,
  BesideLanes: ChangePane,
  Tool: ChangeButton,
  OnSlide: ChangeNews,
  useBeside: useChanging,
};
