// SPDX-License-Identifier: GPL-2.0-or-later
/** The editor: a visitor changes the patch of an arm, and runs that as one more lane. */

import type { Plugin } from '../../plugins.tsx';
import { DoorProvider } from './door.tsx';
import { ChangeButton, ChangeNews, ChangePane, useChanging } from './entry.tsx';

export const plugin: Plugin = {
  name: 'editor',
  // A change that is built begins wherever the viewer is meanwhile.
  AroundLesson: DoorProvider,
  BesideLanes: ChangePane,
  Tool: ChangeButton,
  OnSlide: ChangeNews,
  useBeside: useChanging,
};
