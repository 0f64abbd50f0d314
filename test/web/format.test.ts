import { expect, it } from 'vitest';
import { formatDay, formatLocal, formatShare, formatTime, isoTime } from '../../web/src/format.ts';

it('writes moments beyond any calendar as the last there is', () => {
  for (const at of [8_640_000_000_000_001, Number.MAX_SAFE_INTEGER]) {
    expect([formatTime(at), formatDay(at)]).toEqual(['9999-12-31 23:59:59', '9999-12-31']);
    expect(isoTime(at)).toBe('9999-12-31T23:59:59.999Z');
    expect(() => formatLocal(at)).not.toThrow();
  }
});

it.each([
  [13 / 14, '92.9%', '7.1%'],
  [371 / 400, '92.7%', '7.3%'],
  [0.5, '50.0%', '50.0%'],
  [0.9995, '99.95%', '0.05%'],
  [0.999_999, '99.99%', '0.01%'],
  [1, '100%', '0.0%'],
])('shows %d and the rest so that they add up, and neither as nothing', (share, part, rest) => {
  expect([formatShare(share), formatShare(1 - share)]).toEqual([part, rest]);
});
