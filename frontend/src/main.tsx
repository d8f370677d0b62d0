// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the page begins. */

import '@fontsource-variable/inter/index.css';
import '@fontsource-variable/source-serif-4/opsz.css';
import '@fontsource-variable/source-serif-4/opsz-italic.css';
import '@fontsource-variable/jetbrains-mono/index.css';
import './ui/tokens.css';
import './ui/base.css';
import './page/lesson.css';
import './compare/compare-view.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { must } from './base/assert.ts';
import { applyTheme } from './ui/theme.ts';

applyTheme();
createRoot(must(document.getElementById('root'), 'the root element')).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
