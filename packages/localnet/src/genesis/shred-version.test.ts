import { describe, expect, it } from 'vitest';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { shredVersion } from './shred-version.ts';

const hash = (...bytes: number[]) =>
  blockhashFromBytes(Uint8Array.from({ length: 32 }, (_, i) => bytes[i] ?? 0));

describe('shred version', () => {
  it('folds the genesis hash and is never 0', () => {
    expect(shredVersion(hash())).toBe(1);
    expect(shredVersion(hash(0x12, 0x34))).toBe(0x1235);
    expect(shredVersion(hash(0x12, 0x34, 0x12, 0x30))).toBe(0x0005);
    expect(shredVersion(hash(0xff, 0xff))).toBe(0xffff);
  });
});
