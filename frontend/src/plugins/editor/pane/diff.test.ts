// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { applyDiff, diffOf, makeDiff, tallyOf } from './diff.ts';

const text = `#include <linux/fs.h>

static int first(int a)
{
	int b = a;

	b++;
	b++;
	return b;
}

static int second(int a)
{
	int c = a;

	c--;
	return c;
}
`;
const files = [
  { name: 'fs/a.c', text },
  { name: 'include/linux/b.h', text: 'int b;\n' },
];
const changed = new Map([['fs/a.c', text.replace('c--;', 'c -= 2;')]]);

describe('a diff', () => {
  it('is what git writes', () => {
    expect(makeDiff(files, changed)).toBe(`diff --git a/fs/a.c b/fs/a.c
--- a/fs/a.c
+++ b/fs/a.c
@@ -13,6 +13,6 @@ static int second(int a)
 {
 	int c = a;
 
-	c--;
+	c -= 2;
 	return c;
 }
`);
    expect(makeDiff(files, new Map())).toBe('');
    expect(makeDiff(files, new Map([['fs/a.c', text]]))).toBe('');
  });

  it('is put on the text that it was made from', () => {
    const both = new Map([...changed, ['include/linux/b.h', 'long b;\n']]);
    const applied = applyDiff(files, makeDiff(files, both));
    expect(applied.fits && [...applied.texts]).toEqual([...both]);
    expect(tallyOf(makeDiff(files, both))).toEqual({ added: 2, removed: 2 });
  });

  it('says why it does not fit', () => {
    const diff = makeDiff(files, changed);
    const why = (fs: typeof files, of: string) => {
      const applied = applyDiff(fs, of);
      return applied.fits ? '' : applied.why;
    };
    expect(why([{ name: 'fs/a.c', text: 'int other;\n' }], diff)).toContain('version of fs/a.c');
    expect(why([], diff)).toContain('fs/a.c, but this page does not show that file');
    expect(why(files, 'words')).toContain('no line');
    expect(why(files, '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n nothing')).not.toBe('');
  });
});

describe('what is dropped', () => {
  const diff = makeDiff(files, changed);

  it('gives its diff, out of a mail and out of a mailbox', () => {
    const mail = `From 0123 Mon Sep 17 00:00:00 2001
From: A <a@b>
Subject: [PATCH] fs: two at once

Why.
---
 fs/a.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

${diff}-- 
2.39.2

`;
    expect(diffOf(mail)).toBe(diff);
    expect(diffOf(mail.replaceAll('\n', '\r\n'))).toBe(diff);
    expect(diffOf(mail + mail)).toBe(diff + diff);
  });

  it('has the names of git, whoever wrote it', () => {
    const plain = diff
      .replace(/^diff.*\n/, '')
      .replace('--- a/fs/a.c', '--- linux.orig/fs/a.c\t2026-01-01 10:00:00')
      .replace('+++ b/fs/a.c', '+++ linux/fs/a.c\t2026-01-01 10:00:00');
    expect(diffOf(plain)).toBe(diff);
    const added = '--- /dev/null\n+++ b/fs/new.c\n@@ -0,0 +1 @@\n+int n;\n';
    expect(diffOf(added)).toContain('diff --git a/fs/new.c b/fs/new.c\nnew file mode');
    expect(diffOf(added)).toContain('--- /dev/null\n');
  });

  it('is no patch when it is cut off or something else', () => {
    expect(diffOf('hello\nworld\n')).toBe('');
    expect(diffOf(diff.split('\n').slice(0, -3).join('\n'))).toBe('');
    expect(diffOf('--- a\n+++ b\n')).toBe('');
    expect(diffOf('\u0000PNG')).toBe('');
  });
});
