import { Float64, type WritableJson } from '../../base/json.ts';
import { interestBearingAmount, type MintScale, scaledUiAmount } from '../token/ui-amount.ts';

/** Above this, 10^decimals overflows a u64 and `uiAmount` is null. */
const UI_AMOUNT_DECIMALS_MAX = 19;

export function decimalText(amount: bigint, decimals: number): string {
  if (decimals === 0) return String(amount);
  const digits = String(amount).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const integer = digits.slice(0, -decimals);
  return fraction === '' ? integer : `${integer}.${fraction}`;
}

/** Source: account-decoder/src/parse_token.rs, `token_amount_to_ui_amount_v3`. */
export function uiTokenAmount(amount: bigint, decimals: number): WritableJson {
  return shown(amount, decimals, uiAmount(amount, decimals));
}

function scaledText(amount: bigint, mint: MintScale, unixTimestamp: bigint): string | null | undefined {
  const { decimals, interestBearing, scaledUiAmount: scaled } = mint;
  if (interestBearing) return interestBearingAmount(interestBearing, amount, decimals, unixTimestamp);
  return scaled && scaledUiAmount(scaled, amount, decimals, unixTimestamp);
}

/**
 * For mints with interest or scaling, `uiAmount` is parsed from `uiAmountString`, and null if it is not finite.
 * @param unixTimestamp - bank clock; undefined: interest and scaling are ignored.
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

/** Like Agave's block storage, makes `uiAmount` null if it is at most `f64::EPSILON`. */
export function storedTokenAmount(amount: bigint, decimals: number): WritableJson {
  const significant = uiAmount(amount, decimals);
  return shown(amount, decimals, significant !== null && significant > Number.EPSILON ? significant : null);
}

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
