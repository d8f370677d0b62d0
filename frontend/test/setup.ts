// SPDX-License-Identifier: GPL-2.0-or-later
/** Every test starts from the same clock and locale; see the test script for TZ and LC_ALL. */
import { afterEach, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});
