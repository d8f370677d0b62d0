// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { parsePatch } from './patch.ts';

const mail = `From 0 Mon Sep 17 00:00:00 2001
Subject: [PATCH] mm: an example

--- a line of prose
---
 mm/vmscan.c | 4 ++--

--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -748,4 +749,5 @@ void unregister_shrinker(struct shrinker *shrinker)
 	x();
-	down_write(&shrinker_rwsem);
+	mutex_lock(&shrinker_mutex);
+	synchronize_srcu(&shrinker_srcu);

 	y();
--
2.39.5
`;

it('reads files, hunks and signed lines and nothing of the mail around them', () => {
  expect(parsePatch(mail)).toEqual([
    {
      path: 'mm/vmscan.c',
      added: 2,
      removed: 1,
      hunks: [
        {
          where: 'unregister_shrinker()',
          lines: [
            { sign: ' ', text: '\tx();' },
            { sign: '-', text: '\tdown_write(&shrinker_rwsem);' },
            { sign: '+', text: '\tmutex_lock(&shrinker_mutex);' },
            { sign: '+', text: '\tsynchronize_srcu(&shrinker_srcu);' },
            { sign: ' ', text: '' },
            { sign: ' ', text: '\ty();' },
          ],
        },
      ],
    },
  ]);
});

it('finds no file in prose', () => {
  expect(parsePatch('nothing here\n')).toEqual([]);
});
