import { describe, expect, it } from 'vitest';
import { decodeMintScale } from './extensions.ts';
import {
  type InterestBearingConfig,
  interestBearingAmount,
  type ScaledUiAmountConfig,
  scaledUiAmount,
} from './ui-amount.ts';

/** 365.24 days, as in the token program. */
const YEAR = 31_556_736n;
const ONE = 10n ** 18n;
const U64_MAX = 2n ** 64n - 1n;
const TEN_THOUSAND_YEARS =
  '258917064265813826192025834755112557504850551118283225815045099303279643822914042296793377611277551888244755303462190670431480816358154467489350925148558569427069926786360814068189956495940285398273555561779717914539956777398245259214848';

const interest = (before: number, from: bigint, updated: bigint, rate: number): InterestBearingConfig => ({
  initializationTimestamp: from,
  preUpdateAverageRate: before,
  lastUpdateTimestamp: updated,
  currentRate: rate,
});

/** The figures of spl-token-2022's own tests. */
describe('interest-bearing amount', () => {
  it.each<[string, InterestBearingConfig, bigint, number, bigint, string]>([
    ['5 % for a year', interest(500, 0n, YEAR, 500), ONE, 18, YEAR, '1.051271096376024117'],
    ['one more decimal', interest(500, 0n, YEAR, 500), ONE, 19, YEAR, '0.1051271096376024117'],
    // 10^28 is inexact: the last digits depend on the multiplication order.
    ['28 decimals', interest(500, 0n, YEAR, 500), ONE, 28, YEAR, '0.0000000001051271096376024175'],
    ['rounded', interest(500, 0n, YEAR, 500), 10n ** 10n, 10, YEAR, '1.0512710964'],
    ['ten times the amount', interest(500, 0n, YEAR, 500), 10n * ONE, 18, YEAR, '10.512710963760241611'],
    ['-5 % for a year', interest(-500, 0n, YEAR, -500), ONE, 18, YEAR, '0.951229424500713905'],
    ['opposite rates', interest(-500, 0n, YEAR, 500), 1n, 0, 2n * YEAR, '1'],
    ['u64::MAX', interest(500, 0n, YEAR, 500), U64_MAX, 0, 2n * YEAR, '20386805083448098816'],
    ['10,000 years', interest(500, 0n, YEAR, 500), U64_MAX, 0, 10_000n * YEAR, TEN_THOUSAND_YEARS],
    ['a rate of 0', interest(0, 0n, YEAR, 0), 4200n, 2, YEAR, '42'],
    ['beyond an f64', interest(32767, 0n, 0n, 32767), U64_MAX, 0, YEAR * 1000n, 'inf'],
    ['no elapsed time', interest(500, 9n, 9n, 500), 1_500_000n, 6, 9n, '1.5'],
  ])('%s', (_name, config, amount, decimals, now, text) => {
    expect(interestBearingAmount(config, amount, decimals, now)).toBe(text);
  });

  it('is null when a time span overflows an i64', () => {
    const config = interest(1, -(2n ** 63n), 2n ** 63n - 1n, 1);
    expect(interestBearingAmount(config, 1n, 0, 0n)).toBeNull();
    expect(interestBearingAmount(interest(1, 0n, -(2n ** 63n), 1), 1n, 0, 5n)).toBeNull();
  });
});

const scaled = (multiplier: number, from = 1n, newMultiplier = 10): ScaledUiAmountConfig => ({
  multiplier,
  newMultiplierEffectiveTimestamp: from,
  newMultiplier,
});

describe('scaled amount', () => {
  it.each<[string, ScaledUiAmountConfig, bigint, number, bigint, string]>([
    ['doubled', scaled(2), ONE, 18, 0n, '2'],
    ['ten doubled', scaled(2), 10n * ONE, 18, 0n, '20'],
    ['before the new multiplier', scaled(5), 1n, 0, 0n, '5'],
    ['from the new multiplier on', scaled(5), 1n, 0, 1n, '10'],
    ['truncated to base units', scaled(0.99), 101n, 2, 0n, '0.99'],
    ['less than a base unit', scaled(0.001), 5n, 2, 0n, '0'],
    ['infinite', scaled(Number.POSITIVE_INFINITY), U64_MAX, 0, 0n, 'inf'],
    ['zeros of a whole number', scaled(10), 10n, 0, 0n, '100'],
    ['many decimals', scaled(1), 1n, 25, 0n, '0.0000000000000000000000001'],
  ])('%s', (_name, config, amount, decimals, now, text) => {
    expect(scaledUiAmount(config, amount, decimals, now)).toBe(text);
  });
});

describe('mint scale', () => {
  function mintWith(...extensions: readonly (readonly [type: number, value: Buffer])[]): Uint8Array {
    const head = Buffer.alloc(166);
    head[44] = 6;
    head[45] = 1;
    head[165] = 1;
    const entries = extensions.flatMap(([type, value]) => [
      Buffer.from([type, 0, value.length & 0xff, value.length >> 8]),
      value,
    ]);
    return Buffer.concat([head, ...entries]);
  }

  it('reads the extensions', () => {
    const rate = Buffer.alloc(52);
    rate.writeBigInt64LE(-7n, 32);
    rate.writeInt16LE(-500, 40);
    rate.writeBigInt64LE(8n, 42);
    rate.writeInt16LE(250, 50);
    const factor = Buffer.alloc(56);
    factor.writeDoubleLE(1.5, 32);
    factor.writeBigInt64LE(99n, 40);
    factor.writeDoubleLE(2, 48);
    expect(decodeMintScale(mintWith([9, Buffer.alloc(0)], [10, rate], [25, factor]))).toEqual({
      decimals: 6,
      interestBearing: interest(-500, -7n, 8n, 250),
      scaledUiAmount: scaled(1.5, 99n, 2),
    });
  });

  it('uses the decimals when an extension has a wrong size', () => {
    expect(decodeMintScale(mintWith([10, Buffer.alloc(53)], [25, Buffer.alloc(55)]))).toEqual({
      decimals: 6,
    });
    expect(decodeMintScale(mintWith().subarray(0, 82))).toEqual({ decimals: 6 });
    expect(decodeMintScale(new Uint8Array(165))).toBeNull();
  });
});
