import { setImmediate } from 'node:timers/promises';
import type { Address } from '../../ledger/address.ts';
import type { Chain } from '../chain/chain.ts';
import type { TokenNames } from '../token/token-names.ts';
import { mintsToName, type TokenWords } from './name-tokens.ts';
import { type Deeds, type ParsedTransaction, parsedTransaction, readDeeds } from './parse-transaction.ts';
import type { ToldTransaction } from './told-transactions.ts';

/** What is shown of each transaction besides what always is. */
export type ShownBesides = Readonly<{ events: boolean; raw: boolean }>;

const noNames: ReadonlyMap<Address, TokenWords> = new Map();

/** Transactions as the interface shows them; the names of all of their tokens are looked up at once. */
export async function parseTold(
  chain: Chain,
  told: readonly ToldTransaction[],
  tokenNames: TokenNames,
  { events, raw }: ShownBesides,
): Promise<ParsedTransaction[]> {
  const done: (ToldTransaction & { deeds: Deeds })[] = [];
  for (const one of told) {
    done.push({ ...one, deeds: readDeeds(one.transaction) });
    // A hundred of them at once would keep others waiting.
    await setImmediate();
  }
  const mints = mintsToName(done.flatMap(({ deeds }) => deeds.actions));
  const names = mints.size === 0 ? noNames : await tokenNames.names(chain, mints);
  const parsed: ParsedTransaction[] = [];
  for (const { transaction, deeds, raw: shown } of done) {
    parsed.push(parsedTransaction(transaction, deeds, names, raw ? { events, raw: shown } : { events }));
    await setImmediate();
  }
  return parsed;
}
