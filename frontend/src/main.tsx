// SPDX-License-Identifier: GPL-2.0-or-later
/** Entry point of the page. */

import '@fontsource-variable/inter/index.css';
import '@fontsource-variable/source-serif-4/opsz.css';
import '@fontsource-variable/source-serif-4/opsz-italic.css';
import '@fontsource-variable/jetbrains-mono/index.css';
import './ui/tokens.css';
import './ui/base.css';
// The order of these imports is the order of the style sheets in the cascade.
import './page/lesson.css';
import './page/story.css';
import './panels/discussion.css';
import './panels/recap/recap.css';
import './panels/terms/terms.css';
import './page/stage.css';
import './page/side-panel.css';
import './controls/transport.css';
import './panels/words-panel.css';
import './toys/toy.css';
import './toys/tiles/tiles.css';
import './panels/dialogs.css';
import './page/narrow.css';
import './page/middle.css';
import './page/deck/notes.css';
import './page/embed.css';
import './home/home.css';
import './page/lanes.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { must } from './base/assert.ts';
import { afterPicture, firstPicture } from './base/first-picture.ts';
import { isRemote, type Site, siteOf, storeSite } from './base/site.ts';
import { languageLoaded } from './lang/load.ts';
import { readPlace } from './navigation/place.ts';
import { addFonts, applyTheme, namedFonts, pageFonts, redrawThemed } from './ui/theme.ts';

/** The first picture of a remote site does not wait for its fonts. Then all files are stored for later visits. */
async function siteFonts(site: Site): Promise<void> {
  if (isRemote()) afterPicture(() => addFonts(site.fonts).then(redrawThemed));
  else await addFonts(site.fonts);
  afterPicture(() => storeSite(site));
}

applyTheme();
const site = siteOf();
/** Slides and handouts are laid out by the size of their text. */
const { lesson, present } = readPlace(location.search);
const lanesFirst = lesson !== null && present === null ? firstPicture : null;
const fonts = site === null ? pageFonts(namedFonts(), lanesFirst) : siteFonts(site);
// Modules of the app may call t() while they load, so the language is loaded before them.
const app = languageLoaded().then(() => import('./app.tsx'));
void Promise.all([app, fonts]).then(([{ App }]) => {
  createRoot(must(document.getElementById('root'), 'the root element')).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
});
