import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type GetLargestAccountsResult,
  type LargestAccountsFilter,
  parseGetLargestAccounts,
} from '../../../../src/protocol/rpc/getLargestAccounts.ts';
import { compareAddresses } from '../../../../src/solana/address.ts';
import type { Bank, LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { nonCirculatingSupply } from './non-circulating-accounts.ts';

/** Source: Agave `NUM_LARGEST_ACCOUNTS`. */
const ACCOUNTS_MAX = 20;

type Entry = GetLargestAccountsResult[number];

/** Ties are ordered by descending address. */
function largestFirst(a: Entry, b: Entry): number {
  if (a.lamports !== b.lamports) return a.lamports > b.lamports ? -1 : 1;
  return compareAddresses(b.address, a.address);
}

function* candidates(bank: Bank, filter: LargestAccountsFilter | null): Generator<Entry> {
  const locked = filter === null ? null : nonCirculatingSupply(bank).accounts;
  for (const [address, { lamports }] of bank.accounts()) {
    if (lamports === 0n) continue;
    if (locked !== null && locked.has(address) !== (filter === 'nonCirculating')) continue;
    yield { address, lamports };
  }
}

/** As of now; real nodes cache for two hours. */
export function getLargestAccounts(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { filter, commitment } = parseGetLargestAccounts(params);
  const bank = node.bank(commitment);
  const largest: Entry[] = [];
  for (const entry of candidates(bank, filter)) {
    const least = largest.at(-1);
    if (largest.length === ACCOUNTS_MAX && least !== undefined && largestFirst(least, entry) <= 0) continue;
    largest.push(entry);
    largest.sort(largestFirst).splice(ACCOUNTS_MAX);
  }
  return withContext(bank, largest satisfies GetLargestAccountsResult);
}
