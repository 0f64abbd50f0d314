import { expect, it } from 'vitest';
import { keepAliveMsOf } from './keep-alive.ts';

it('uses a connection for less than the node keeps it', () => {
  expect(keepAliveMsOf('timeout=5')).toBe(4_000);
  expect(keepAliveMsOf('max=100, Timeout=1')).toBe(500);
  expect(keepAliveMsOf('timeout=0')).toBe(0);
  expect(keepAliveMsOf('max=5')).toBeNull();
});
