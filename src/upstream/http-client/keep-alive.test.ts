import { expect, it } from 'vitest';
import { parseKeepAliveMs } from './keep-alive.ts';

it('uses a connection for less than the node keeps it', () => {
  expect(parseKeepAliveMs('timeout=5')).toBe(4_000);
  expect(parseKeepAliveMs('max=100, Timeout=1')).toBe(500);
  expect(parseKeepAliveMs('timeout=0')).toBe(0);
  expect(parseKeepAliveMs('max=5')).toBeNull();
});
