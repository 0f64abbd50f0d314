import { mintTokenAmount } from '../../solana/encoding/ui-token-amount.ts';
import { decodeMintScale } from '../../solana/token/mint-scale.ts';
import { uiAmountOf } from '../amounts.ts';
import type { TokenMint } from './token-mint.ts';

/**
 * An amount in whole tokens: with interest, or multiplied, where the mint says so. Where that is no finite number, the
 * amount is shown as the decimals say.
 *
 * @param amount - base units; a sum may be more than a u64.
 * @param now - Unix seconds of the chain's clock; without it only the decimals count.
 */
export function uiAmountOfMint(amount: bigint, { data, mint }: TokenMint, now: bigint | undefined): number {
  const scale = decodeMintScale(data) ?? { decimals: mint.decimals };
  const { uiAmountString } = mintTokenAmount(amount, scale, now) as Readonly<{ uiAmountString: string }>;
  const scaled = uiAmountString === '' ? Number.NaN : Number(uiAmountString);
  return Number.isFinite(scaled) ? scaled : uiAmountOf(amount, mint.decimals);
}
