import { describe, expect, it } from 'vitest';
import { lamports } from '../../../../src/solana/units.ts';
import { account } from '../../../../test/streams/ledger-script.ts';
import { feePayerError } from './transaction-checks.ts';

const RENT = 890_880n;
const FEE = lamports(5000);
const faultOf = (balance: bigint) => feePayerError(account({ lamports: lamports(balance) }), FEE);

describe('fee payer', () => {
  it('may be drained or left rent-exempt, but not in between', () => {
    const between = { InsufficientFundsForRent: { account_index: 0 } };
    expect(faultOf(RENT + 5000n)).toBeNull();
    expect(faultOf(RENT + 4999n)).toEqual(between);
    expect(faultOf(RENT)).toEqual(between);
    expect(faultOf(5000n)).toBeNull();
    expect(faultOf(4999n)).toBe('InsufficientFundsForFee');
  });

  it('may have been below the rent minimum before', () => {
    expect(faultOf(RENT - 1n)).toBeNull();
    expect(faultOf(5001n)).toBeNull();
  });
});
