import { expect, it } from 'vitest';
import { monthNote } from '../../web/src/pages/home/month-note.ts';

it.each([
  ['no quota', [{ used: 7, limit: null }]],
  ['no quota', []],
  [
    '7 of 30 this month',
    [
      { used: 5, limit: 10 },
      { used: 2, limit: 20 },
    ],
  ],
  [
    '178 this month',
    [
      { used: 173, limit: null },
      { used: 5, limit: 5 },
    ],
  ],
])('says "%s" of the quotas of all plans together', (note, quotas) => {
  expect(monthNote(quotas)).toBe(note);
});
