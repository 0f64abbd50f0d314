import { mintTokenAmount } from '../../ledger/encoding/ui-token-amount.ts';
import { sysvars } from '../../ledger/programs.ts';
import { decodeClock } from '../../ledger/sysvar/clock.ts';
import { decodeMintScale, type MintScale } from '../../ledger/token/mint-scale.ts';
import { uiAmountOf } from '../amounts.ts';
import type { Chain } from '../chain/chain.ts';

/** Shows amounts of one mint in whole tokens, as wallets do. */
export type ShowAmount = (amount: bigint) => number;

/** Whether amounts of a mint change with time: it bears interest, or multiplies from a time on. */
const isTimed = ({ interestBearing, scaledUiAmount }: MintScale): boolean =>
  interestBearing !== undefined || scaledUiAmount !== undefined;

/**
 * An amount in whole tokens, with interest or multiplied where the mint says so. Where that is no finite number, the
 * amount is shown as the decimals say.
 *
 * @param now - Unix seconds of the chain's clock.
 */
export function shownAmount(amount: bigint, scale: MintScale, now: bigint | undefined): number {
  const { uiAmountString } = mintTokenAmount(amount, scale, now) as Readonly<{ uiAmountString: string }>;
  const shown = uiAmountString === '' ? Number.NaN : Number(uiAmountString);
  return Number.isFinite(shown) ? shown : uiAmountOf(amount, scale.decimals);
}

/**
 * How amounts of mints are shown now. The chain's clock is read where a mint needs it, and not otherwise.
 * @param mints - the data of each mint's account.
 * @throws Failure, NodeRefusal.
 */
export async function amountsOf<Key>(
  chain: Chain,
  mints: Iterable<readonly [key: Key, data: Uint8Array]>,
): Promise<Map<Key, ShowAmount>> {
  const scales = [...mints].map(([key, data]) => [key, decodeMintScale(data)] as const);
  const isNeeded = scales.some(([, scale]) => scale !== null && isTimed(scale));
  const clock = isNeeded ? await chain.account(sysvars.clock) : null;
  const now = clock === null ? undefined : decodeClock(clock.data)?.unixTimestamp;
  const shows = new Map<Key, ShowAmount>();
  for (const [key, scale] of scales) {
    if (scale !== null) shows.set(key, (amount) => shownAmount(amount, scale, now));
  }
  return shows;
}
