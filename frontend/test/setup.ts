// SPDX-License-Identifier: GPL-2.0-or-later
/** Every test starts from the same clock and locale; see the test script for TZ and LC_ALL. */
import { afterEach, beforeAll, vi } from 'vitest';
import { loadLater } from '../src/base/later.tsx';
import { loadAllViews } from '../src/views/registry.ts';

// Tests use views, and parts that are loaded on demand, without waiting for them.
await loadAllViews();
beforeAll(loadLater);

afterEach(() => {
  vi.useRealTimers();
});
