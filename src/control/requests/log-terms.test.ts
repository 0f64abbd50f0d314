import { expect, it } from 'vitest';
import { searchOf, termsIn } from './log-terms.ts';

it('cuts a long term without leaving half of a character', () => {
  const term = `${'a'.repeat(87)}𠀀`;
  const [cut] = termsIn(term);
  expect(cut?.isWellFormed()).toBe(true);
  expect(searchOf(term).terms).toEqual([cut]);
});
