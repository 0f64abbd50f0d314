import { RawJson } from '../base/json.ts';
import { decimalText } from '../ledger/encoding/ui-token-amount.ts';

const SOL_DECIMALS = 9;

/**
 * Amounts as the REST interface shows them: JSON numbers in whole tokens. A number of JavaScript holds 15 digits and
 * more of them; amounts that need all of their digits have a field `*_raw` beside them.
 */
export const uiAmountOf = (amount: bigint, decimals: number): number => Number(decimalText(amount, decimals));

/** Lamports in SOL. */
export const solOf = (lamports: bigint): number => uiAmountOf(lamports, SOL_DECIMALS);

/** A raw amount as the JSON number it is, with every digit; clients that read doubles round it themselves. */
export const rawAmount = (amount: bigint): RawJson => new RawJson(String(amount));
