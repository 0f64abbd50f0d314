import { RawJson } from '../base/json.ts';
import type { Address } from '../solana/address.ts';
import { decimalText } from '../solana/encoding/ui-token-amount.ts';
import { type Lamports, lamports, U64_MAX } from '../solana/units.ts';

const SOL_DECIMALS = 9;
const DECIMAL = /^(\d{0,40})(?:\.(\d{0,40}))?(?:e([+-]?\d{1,2}))?$/i;

/** Amount in whole tokens. A double can lose digits, so exact amounts go into a `*_raw` field. */
export const uiAmountOf = (amount: bigint, decimals: number): number => Number(decimalText(amount, decimals));

/** @returns null if the mint or its decimals are unknown. */
export function tokensOf(
  decimals: ReadonlyMap<Address, number>,
  mint: Address | null,
  amount: bigint,
): number | null {
  const scale = mint === null ? undefined : decimals.get(mint);
  return scale === undefined ? null : uiAmountOf(amount, scale);
}

export const solOf = (amount: bigint): number => uiAmountOf(amount, SOL_DECIMALS);

export const rawAmount = (amount: bigint): RawJson => new RawJson(String(amount));

function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const unit = 10n ** BigInt(-power);
  return (digits * 2n + unit) / (unit * 2n);
}

/** Rounds to the nearest lamport. @returns null if the result is 0 or above u64, or the input is not a decimal. */
export function lamportsOfSol(sol: unknown): Lamports | null {
  if (typeof sol !== 'number' && typeof sol !== 'bigint' && typeof sol !== 'string') return null;
  const [all, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(String(sol)) ?? [];
  if (all === undefined || `${whole}${fraction}` === '') return null;
  const amount = shifted(BigInt(`${whole}${fraction}`), SOL_DECIMALS + Number(exponent) - fraction.length);
  return amount > 0n && amount <= U64_MAX ? lamports(amount) : null;
}
