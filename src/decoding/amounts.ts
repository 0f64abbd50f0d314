import { RawJson } from '../base/json.ts';
import { decimalText } from '../solana/encoding/ui-token-amount.ts';
import { type Lamports, lamports, U64_MAX } from '../solana/units.ts';

const SOL_DECIMALS = 9;
const DECIMAL = /^(\d{0,40})(?:\.(\d{0,40}))?(?:e([+-]?\d{1,2}))?$/i;

/**
 * Amounts as the REST interface shows them: JSON numbers in whole tokens. A number of JavaScript holds 15 digits and
 * more of them; amounts that need all of their digits have a field `*_raw` beside them.
 */
export const uiAmountOf = (amount: bigint, decimals: number): number => Number(decimalText(amount, decimals));

/** Lamports in SOL. */
export const solOf = (amount: bigint): number => uiAmountOf(amount, SOL_DECIMALS);

/** A raw amount as the JSON number it is, with every digit; clients that read doubles round it themselves. */
export const rawAmount = (amount: bigint): RawJson => new RawJson(String(amount));

/** Digits shifted by a power of ten, rounded half up. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const unit = 10n ** BigInt(-power);
  return (digits * 2n + unit) / (unit * 2n);
}

/**
 * Lamports of an amount in SOL, rounded to the nearest one. What is counted are the digits of the number as JSON
 * writes it, so that 0.1 is 100,000,000 and nothing near it.
 * @returns null for what is no decimal number, is less than one lamport after rounding, or more than a u64.
 */
export function lamportsOfSol(sol: unknown): Lamports | null {
  if (typeof sol !== 'number' && typeof sol !== 'bigint' && typeof sol !== 'string') return null;
  const [all, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(String(sol)) ?? [];
  if (all === undefined || `${whole}${fraction}` === '') return null;
  const amount = shifted(BigInt(`${whole}${fraction}`), SOL_DECIMALS + Number(exponent) - fraction.length);
  return amount > 0n && amount <= U64_MAX ? lamports(amount) : null;
}
