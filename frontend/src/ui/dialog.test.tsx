// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** A dialog returns the focus when it closes, and the key that opens the dialog also closes it. */

import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, test } from 'vitest';
import { Dialog } from './dialog.tsx';

afterEach(cleanup);

function Page() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        opener
      </button>
      <Dialog title="t" open={open} onClose={() => setOpen(false)} closedBy={['c']}>
        <input />
      </Dialog>
    </>
  );
}

test.each(['Escape', 'c'])('%s closes it, and who opened it has the focus again', async (key) => {
  render(<Page />);
  const opener = screen.getByRole('button', { name: 'opener' });
  opener.focus();
  fireEvent.click(opener);
  const dialog = screen.getByRole('dialog');
  await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
  fireEvent.keyDown(document.activeElement!, { key: 'x' });
  fireEvent.keyDown(screen.getByRole('textbox'), { key: 'c' });
  fireEvent.keyDown(dialog, { key: 'c', ctrlKey: true });
  expect(screen.queryByRole('dialog')).not.toBeNull();
  fireEvent.keyDown(dialog, { key });
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(opener));
});

test('a field that is to be filled has the focus, and the opener has it again', async () => {
  function Form() {
    const [open, setOpen] = useState(false);
    return (
      <>
        <button type="button" onClick={() => setOpen(true)}>
          opener
        </button>
        <Dialog title="t" open={open} onClose={() => setOpen(false)}>
          <input aria-label="name" data-first />
        </Dialog>
      </>
    );
  }
  render(<Form />);
  const opener = screen.getByRole('button', { name: 'opener' });
  opener.focus();
  fireEvent.click(opener);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('name')));
  fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' });
  await waitFor(() => expect(document.activeElement).toBe(opener));
});
