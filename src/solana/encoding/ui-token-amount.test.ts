import { describe, expect, it } from 'vitest';
import { writeJson } from '../../base/json.ts';
import { mintTokenAmount, uiTokenAmount } from './ui-token-amount.ts';

const shown = (amount: bigint, decimals: number) => writeJson(uiTokenAmount(amount, decimals));

describe('token amount', () => {
  it('is exact as text and an f64 as number', () => {
    expect(shown(370932n, 9)).toBe(
      '{"amount":"370932","decimals":9,"uiAmount":0.000370932,"uiAmountString":"0.000370932"}',
    );
    expect(shown(18446744073709551615n, 6)).toBe(
      '{"amount":"18446744073709551615","decimals":6,"uiAmount":18446744073709.55,"uiAmountString":"18446744073709.551615"}',
    );
  });

  it('drops trailing zeros and the point', () => {
    expect(shown(1_500_000_000n, 9)).toContain('"uiAmount":1.5,"uiAmountString":"1.5"');
    expect(shown(1_000_000_000n, 9)).toContain('"uiAmount":1.0,"uiAmountString":"1"');
    expect(shown(0n, 9)).toContain('"uiAmount":0.0,"uiAmountString":"0"');
  });

  it('keeps zeros of a whole number without decimals', () => {
    expect(shown(100n, 0)).toContain('"uiAmount":100.0,"uiAmountString":"100"');
  });

  it('has no number when 10^decimals overflows a u64', () => {
    expect(shown(1n, 19)).toContain('"uiAmount":1e-19,');
    expect(shown(10n, 20)).toContain('"uiAmount":null,"uiAmountString":"0.0000000000000000001"');
  });
});

describe('mint token amount', () => {
  const interestBearing = {
    initializationTimestamp: 0n,
    preUpdateAverageRate: 32767,
    lastUpdateTimestamp: 0n,
    currentRate: 32767,
  };
  const scaledUiAmount = { multiplier: 2, newMultiplierEffectiveTimestamp: 100n, newMultiplier: 2.5 };
  const of = (mint: Parameters<typeof mintTokenAmount>[1], now?: bigint) =>
    writeJson(mintTokenAmount(1000n, mint, now));

  it('applies the multiplier of the clock', () => {
    expect(of({ decimals: 2, scaledUiAmount }, 99n)).toBe(
      '{"amount":"1000","decimals":2,"uiAmount":20.0,"uiAmountString":"20"}',
    );
    expect(of({ decimals: 2, scaledUiAmount }, 100n)).toContain('"uiAmount":25.0,"uiAmountString":"25"');
  });

  it('applies interest instead of a multiplier', () => {
    expect(of({ decimals: 2, scaledUiAmount, interestBearing }, 31_556_736n)).toContain(
      '"uiAmount":264.88,"uiAmountString":"264.88"',
    );
  });

  it('has no number when it is not finite', () => {
    expect(of({ decimals: 0, interestBearing }, 31_556_736_000n)).toContain(
      '"uiAmount":null,"uiAmountString":"inf"',
    );
    expect(of({ decimals: 0, interestBearing }, -(2n ** 63n))).toContain('"uiAmountString":"0"');
    const outOfRange = { ...interestBearing, lastUpdateTimestamp: 1n };
    expect(of({ decimals: 0, interestBearing: outOfRange }, -(2n ** 63n))).toContain(
      '"uiAmount":null,"uiAmountString":""',
    );
  });

  it('uses the decimals without clock or scaling', () => {
    expect(of({ decimals: 2, scaledUiAmount, interestBearing })).toContain('"uiAmountString":"10"');
    expect(of({ decimals: 2 }, 5n)).toContain('"uiAmountString":"10"');
  });
});
