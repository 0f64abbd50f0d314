import { describe, expect, it } from 'vitest';
import { writeJson } from '../../base/json.ts';
import { uiTokenAmount } from './ui-token-amount.ts';

const shown = (amount: bigint, decimals: number) => writeJson(uiTokenAmount(amount, decimals));

describe('a token amount', () => {
  it('is exact as text and an f64 as number', () => {
    expect(shown(370932n, 9)).toBe(
      '{"amount":"370932","decimals":9,"uiAmount":0.000370932,"uiAmountString":"0.000370932"}',
    );
    expect(shown(18446744073709551615n, 6)).toBe(
      '{"amount":"18446744073709551615","decimals":6,"uiAmount":18446744073709.55,"uiAmountString":"18446744073709.551615"}',
    );
  });

  it('drops trailing zeros, and the point with them', () => {
    expect(shown(1_500_000_000n, 9)).toContain('"uiAmount":1.5,"uiAmountString":"1.5"');
    expect(shown(1_000_000_000n, 9)).toContain('"uiAmount":1.0,"uiAmountString":"1"');
    expect(shown(0n, 9)).toContain('"uiAmount":0.0,"uiAmountString":"0"');
  });

  it('keeps the zeros of a whole number without decimals', () => {
    expect(shown(100n, 0)).toContain('"uiAmount":100.0,"uiAmountString":"100"');
  });

  it('has no number when 10^decimals is beyond u64', () => {
    expect(shown(1n, 19)).toContain('"uiAmount":1e-19,');
    expect(shown(10n, 20)).toContain('"uiAmount":null,"uiAmountString":"0.0000000000000000001"');
  });
});
