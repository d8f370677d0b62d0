// SPDX-License-Identifier: GPL-2.0-or-later
/** The way to the front page out of a page that has no other. */

import { Mark } from './icons.tsx';

export function HomeLink() {
  return (
    <a className="brand" href="?" data-testid="home-link">
      <Mark /> Kernel Duet
    </a>
  );
}
