// SPDX-License-Identifier: GPL-2.0-or-later
/** The overlay for gestures on a picture, whose code is loaded after the first picture. */

import { afterwards } from '../base/later.tsx';

export const GestureOverlay = afterwards(() =>
  import('./time-gestures.tsx').then((m) => m.GestureOverlay),
);
