import { expect, it } from 'vitest';
import { readOrNull } from './codec.ts';

it('readOrNull returns null for truncated bytes and rethrows other errors', () => {
  expect(readOrNull(Uint8Array.of(1), (reader) => reader.u16())).toBeNull();
  expect(readOrNull(Uint8Array.of(1, 2), (reader) => reader.u16())).toBe(0x0201);
  expect(() =>
    readOrNull(Uint8Array.of(1), () => {
      throw new TypeError('a defect');
    }),
  ).toThrow('a defect');
});
