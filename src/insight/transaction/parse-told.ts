import type { Chain } from '../chain/chain.ts';
import type { TokenNames } from '../token/token-names.ts';
import { mintsToName } from './name-tokens.ts';
import { type ParsedTransaction, parsedTransaction, readDeeds } from './parse-transaction.ts';
import type { ToldTransaction } from './told-transactions.ts';

/** What is shown of each transaction besides what always is. */
export type ShownBesides = Readonly<{ events: boolean; raw: boolean }>;

/** Transactions as the interface shows them; the names of all of their tokens are looked up at once. */
export async function parseTold(
  chain: Chain,
  told: readonly ToldTransaction[],
  tokenNames: TokenNames,
  { events, raw }: ShownBesides,
): Promise<ParsedTransaction[]> {
  const done = told.map((one) => ({ ...one, deeds: readDeeds(one.transaction) }));
  const mints = mintsToName(done.flatMap(({ deeds }) => deeds.actions));
  const names = mints.size === 0 ? new Map() : await tokenNames.names(chain, mints);
  return done.map(({ transaction, deeds, raw: shown }) =>
    parsedTransaction(transaction, deeds, names, raw ? { events, raw: shown } : { events }),
  );
}
