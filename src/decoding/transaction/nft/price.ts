import type { Address } from '../../../solana/address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { uiAmountOf } from '../../amounts.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';

const SOL_DECIMALS = 9;
/** No amount: how a listing without a price of its own says so. */
const NO_PRICE = 2n ** 64n - 1n;

/** What a marketplace counts in: SOL is shown as the mint of wrapped SOL; null where nothing says it. */
export type Currency = Address | null;

/** SOL, as the interface shows it. */
export const SOL: Currency = nativeMint;

/** The mint that an instruction names, where SOL may stand as no mint at all. */
export const currencyOf = (mint: Address | null): Currency =>
  mint === null || mint === programs.system ? SOL : mint;

/**
 * An amount in whole units of its currency.
 * @param raw - base units.
 * @returns null where the transaction does not say the currency, or how many decimals it has.
 */
export function priceIn(
  currency: Currency,
  raw: bigint | null,
  { decimals }: ExecutedTransaction,
): number | null {
  if (currency === null || raw === null || raw === NO_PRICE) return null;
  const scale = currency === SOL ? SOL_DECIMALS : decimals.get(currency);
  return scale === undefined ? null : uiAmountOf(raw, scale);
}
