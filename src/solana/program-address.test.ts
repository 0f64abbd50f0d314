import { getProgramDerivedAddress, isOffCurveAddress, type Address as KitAddress } from '@solana/kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressBytes, addressFromBytes } from './address.ts';
import { findProgramAddress, isDerivedFrom, isOnCurve, u64Seed } from './program-address.ts';
import { programs } from './programs.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });

it('finds the same address as @solana/kit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 15 }),
      key,
      async (seeds, program) => {
        const owner = addressFromBytes(program);
        const [address, bump] = await getProgramDerivedAddress({
          programAddress: owner as unknown as KitAddress,
          seeds,
        });
        expect(findProgramAddress(seeds, owner)).toEqual({ address, bump });
      },
    ),
    { numRuns: 50 },
  );
});

it.each([0n, 1n, 2n, 3n, 4n, 2n ** 128n, 2n ** 255n - 22n, 2n ** 255n - 21n, 2n ** 255n - 20n])(
  'classifies y = %d as @solana/kit does',
  (y) => {
    const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
    const text = addressFromBytes(bytes) as unknown as KitAddress;
    expect(isOnCurve(bytes)).toBe(!isOffCurveAddress(text));
  },
);

it('rejects seeds that the chain rejects', () => {
  const seeds = [addressBytes(programs.token)];
  expect(() => findProgramAddress(Array(16).fill(seeds[0]), programs.ata)).toThrow(RangeError);
  expect(() => findProgramAddress([new Uint8Array(33)], programs.ata)).toThrow(RangeError);
});

it('recognizes derived addresses only', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 15 }), key, (seeds, program) => {
      const owner = addressFromBytes(program);
      const { address } = findProgramAddress(seeds, owner);
      expect(isDerivedFrom(address, seeds, owner)).toBe(true);
      expect(isDerivedFrom(owner, seeds, owner)).toBe(false);
      expect(isDerivedFrom(address, [...seeds, Uint8Array.of(1)], owner)).toBe(false);
    }),
    { numRuns: 50 },
  );
});

it('encodes a number as seed', () => {
  expect([...u64Seed(0x0102n)]).toEqual([2, 1, 0, 0, 0, 0, 0, 0]);
});
