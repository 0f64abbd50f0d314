import { Float64, type WritableJson } from '../../base/json.ts';
import type { MintScale } from '../token/mint-scale.ts';
import { interestBearingAmount, scaledUiAmount } from '../token/ui-amount.ts';

/** Above this, 10^decimals does not fit the u64 in which nodes compute it, and `uiAmount` is null. */
const UI_AMOUNT_DECIMALS_MAX = 19;

/** The amount with its decimal point, exact, without trailing zeros. */
export function decimalText(amount: bigint, decimals: number): string {
  if (decimals === 0) return String(amount);
  const digits = String(amount).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = digits.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * A token amount as JSON-RPC shows it: exact in base units (`amount`) and in tokens (`uiAmountString`), rounded
 * to an f64 in `uiAmount`.
 *
 * @param amount base units, u64
 * @param decimals of the mint, u8
 * @see account-decoder/src/parse_token.rs, `token_amount_to_ui_amount_v3`
 */
export function uiTokenAmount(amount: bigint, decimals: number): WritableJson {
  return shown(amount, decimals, uiAmount(amount, decimals));
}

/** The text of an amount of a mint that bears interest or multiplies; undefined for every other mint. */
function scaledText(amount: bigint, mint: MintScale, unixTimestamp: bigint): string | null | undefined {
  const { decimals, interestBearing, scaledUiAmount: scaled } = mint;
  if (interestBearing) return interestBearingAmount(interestBearing, amount, decimals, unixTimestamp);
  return scaled && scaledUiAmount(scaled, amount, decimals, unixTimestamp);
}

/**
 * A token amount of a mint as JSON-RPC shows it now: with interest, or multiplied, where the mint says so. Then
 * `uiAmount` is what the text reads as, and null where that is no finite number.
 *
 * @param amount base units, u64
 * @param unixTimestamp of the bank's clock, i64 seconds; without it only the decimals count
 * @see account-decoder/src/parse_token.rs, `token_amount_to_ui_amount_v3`
 */
export function mintTokenAmount(
  amount: bigint,
  mint: MintScale,
  unixTimestamp: bigint | undefined,
): WritableJson {
  const text = unixTimestamp === undefined ? undefined : scaledText(amount, mint, unixTimestamp);
  if (text === undefined) return uiTokenAmount(amount, mint.decimals);
  const uiAmount = text === null ? null : new Float64(Number(text.replace('inf', 'Infinity')));
  return { amount: String(amount), decimals: mint.decimals, uiAmount, uiAmountString: text ?? '' };
}

/** The same as it comes back from a node's storage of blocks, which keeps no `uiAmount` that is next to 0. */
export function storedTokenAmount(amount: bigint, decimals: number): WritableJson {
  const significant = uiAmount(amount, decimals);
  return shown(amount, decimals, significant !== null && significant > Number.EPSILON ? significant : null);
}

/** The amount in tokens, rounded to an f64; null where nodes have none. */
export function uiAmount(amount: bigint, decimals: number): number | null {
  return decimals > UI_AMOUNT_DECIMALS_MAX ? null : Number(amount) / Number(10n ** BigInt(decimals));
}

function shown(amount: bigint, decimals: number, uiAmount: number | null): WritableJson {
  return {
    amount: String(amount),
    decimals,
    uiAmount: uiAmount === null ? null : new Float64(uiAmount),
    uiAmountString: decimalText(amount, decimals),
  };
}
