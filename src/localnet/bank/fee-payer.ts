import type { Account } from '../../solana/account/account.ts';
import { decodeNonce, NONCE_BYTES } from '../../solana/nonce.ts';
import { programs } from '../../solana/programs.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import { type Lamports, lamports } from '../../solana/units.ts';
import { rentExemptMinimum } from './sysvar-accounts.ts';

/**
 * Why an account cannot pay a fee. Source: agave svm, `validate_fee_payer`.
 * @returns null when it can.
 */
export function feePayerFault(payer: Account | null, fee: Lamports): TransactionError | null {
  if (payer === null || payer.lamports === 0n) return 'AccountNotFound';
  const reserve = reserveOf(payer);
  if (reserve === null) return 'InvalidAccountForFee';
  if (payer.lamports < reserve + fee) return 'InsufficientFundsForFee';
  const rest = payer.lamports - fee;
  const minimum = rentExemptMinimum(payer.data.length);
  const becomesRentPaying = rest > 0n && rest < minimum && payer.lamports >= minimum;
  return becomesRentPaying ? { InsufficientFundsForRent: { account_index: 0 } } : null;
}

/** Lamports that must stay behind: a nonce account keeps its rent; null when the account cannot pay at all. */
function reserveOf({ owner, data }: Account): bigint | null {
  if (owner !== programs.system) return null;
  if (data.length === 0) return 0n;
  return data.length === NONCE_BYTES && decodeNonce(data)?.data ? rentExemptMinimum(NONCE_BYTES) : null;
}

/** The account after it paid; null when that drained it. */
export function afterFee(payer: Account, fee: Lamports): Account | null {
  const rest = payer.lamports - fee;
  return rest === 0n ? null : { ...payer, lamports: lamports(rest) };
}
