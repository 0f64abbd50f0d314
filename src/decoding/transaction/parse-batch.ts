import { setImmediate } from 'node:timers/promises';
import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import type { TokenNames } from '../token/token-names.ts';
import type { FetchedTransaction } from './fetch-transactions.ts';
import { mintsToName, type TokenLabels } from './name-tokens.ts';
import {
  type ParsedTransaction,
  parsedTransaction,
  parseEffects,
  type TransactionEffects,
} from './parse-transaction.ts';

/** What is shown of each transaction besides what always is. */
export type IncludeOptions = Readonly<{ events: boolean; raw: boolean }>;

const noNames: ReadonlyMap<Address, TokenLabels> = new Map();

/** Transactions as the interface shows them; the names of all of their tokens are looked up at once. */
export async function parseTransactions(
  chain: Chain,
  fetched: readonly FetchedTransaction[],
  tokenNames: TokenNames,
  { events, raw }: IncludeOptions,
): Promise<ParsedTransaction[]> {
  const done: (FetchedTransaction & { effects: TransactionEffects })[] = [];
  for (const one of fetched) {
    done.push({ ...one, effects: parseEffects(one.transaction) });
    // A hundred of them at once would keep others waiting.
    await setImmediate();
  }
  const mints = mintsToName(done.flatMap(({ effects }) => effects.actions));
  const names = mints.size === 0 ? noNames : await tokenNames.names(chain, mints);
  const parsed: ParsedTransaction[] = [];
  for (const { transaction, effects, raw: rawResult } of done) {
    parsed.push(
      parsedTransaction(transaction, effects, names, raw ? { events, raw: rawResult } : { events }),
    );
    await setImmediate();
  }
  return parsed;
}
