import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { configObject, lenientCommitment, positional } from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readBoolean, readVariant } from '../../../../src/protocol/rpc/serde.ts';
import { type Address, compareAddresses } from '../../../../src/solana/address.ts';
import type { Lamports } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { nonCirculatingSupply } from './non-circulating-accounts.ts';

/** Order of Agave's `RpcLargestAccountsFilter`. */
const largestAccountsFilters = ['circulating', 'nonCirculating'] as const;
type LargestAccountsFilter = (typeof largestAccountsFilters)[number];

/** Inside a context; the 20 largest, largest first. */
type GetLargestAccountsResult = readonly Readonly<{ address: Address; lamports: Lamports }>[];

/** `{filter, sortResults, commitment}`; `sortResults` affects only the search of a real node. */
export function parseGetLargestAccounts(params: JsonValue | undefined) {
  const config = configObject(positional(params, 0, 1)[0], 'RpcLargestAccountsConfig');
  const filter = optional(member(config, 'filter'), (name) => readVariant(name, largestAccountsFilters));
  optional(member(config, 'sortResults'), readBoolean);
  return { filter, commitment: lenientCommitment(config) };
}

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

/** Current state; real nodes cache it for two hours. */
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
