import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../base/bytes.ts';
import { address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import { decodeMint } from '../../solana/token/token-state.ts';
import { U64_MAX } from '../../solana/units.ts';
import { type TokenMint, uiAmountOfMint } from './token-mint.ts';

const NOW = 1_700_000_000n;
const [INTEREST, SCALED] = [10, 25];

function mintOf(decimals: number, type = 0, value: Uint8Array = new Uint8Array()): TokenMint {
  const writer = new ByteWriter().zeros(36).u64(0n).u8(decimals).u8(1).zeros(36);
  if (type !== 0)
    writer
      .zeros(165 - 82)
      .u8(1)
      .u16(type)
      .u16(value.length)
      .bytes(value);
  const data = writer.finish();
  const at = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
  const mint = decodeMint(data);
  if (mint === null) throw new Error('no mint');
  return { address: at, program: programs.token2022, mint, data, metadata: null, source: null, isNft: false };
}

const scaledBy = (multiplier: number) =>
  new ByteWriter().zeros(32).f64(multiplier).i64(0n).f64(multiplier).finish();
const bearing = (from: bigint, rate: number) =>
  new ByteWriter().zeros(32).i64(from).u16(rate).i64(from).u16(rate).finish();

describe('token amount', () => {
  it.each([
    [1_234_567n, 6, 1.234567],
    [0n, 9, 0],
    [1n, 0, 1],
    [1n, 255, 1e-255],
    [U64_MAX, 0, 18446744073709552000],
    [U64_MAX * 3n, 9, 55340232221.128654],
  ])('converts %d base units with %d decimals to %d', (amount, decimals, shown) => {
    expect(uiAmountOfMint(amount, mintOf(decimals), NOW)).toBe(shown);
  });

  it('applies a scheduled multiplier only when the time is known', () => {
    const mint = mintOf(2, SCALED, scaledBy(2.5));
    expect(uiAmountOfMint(1_000n, mint, NOW)).toBe(25);
    expect(uiAmountOfMint(1_000n, mint, undefined)).toBe(10);
  });

  it.each([
    ['a multiplier beyond finite numbers', mintOf(0, SCALED, scaledBy(Number.MAX_VALUE))],
    ['a multiplier that is not a number', mintOf(0, SCALED, scaledBy(Number.NaN))],
    ['interest over an impossible period', mintOf(0, INTEREST, bearing(-(2n ** 63n), 500))],
  ])('uses the decimals for %s', (_what, mint) => {
    expect(uiAmountOfMint(1_000n, mint, NOW)).toBe(1_000);
  });
});
