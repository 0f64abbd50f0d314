import type { AccountsFilter, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Address } from '../../solana/address.ts';

/** What can be subscribed to of the accounts that a request wants, where all there are cannot be had. */
export type NamedAccounts = Readonly<{
  addresses: ReadonlySet<Address>;
  owners: ReadonlySet<Address>;
  /** Whether it wants accounts besides that it does not name: by cuckoo filter, by their data, or all there are. */
  hasUnnamed: boolean;
}>;

/** Accounts of a block are thinned out as a filter of accounts would. */
function filtersOf({ accounts, blocks }: SubscribeRequest): AccountsFilter[] {
  const filters = [...(accounts?.values() ?? [])];
  for (const { includeAccounts, accountInclude, cuckooAccountInclude } of blocks?.values() ?? []) {
    if (includeAccounts !== true) continue;
    filters.push({
      ...(accountInclude === undefined ? {} : { account: accountInclude }),
      ...(cuckooAccountInclude === undefined ? {} : { cuckooAccounts: cuckooAccountInclude }),
    });
  }
  return filters;
}

/** The accounts that a request names: never fewer for what others want, or for what it wants besides. */
export function namedAccounts(request: SubscribeRequest): NamedAccounts {
  const [addresses, owners] = [new Set<Address>(), new Set<Address>()];
  let hasUnnamed = false;
  for (const { account = [], owner = [], cuckooAccounts } of filtersOf(request)) {
    const isListed = account.length > 0 && cuckooAccounts === undefined;
    // Either axis holds all that a filter may match, where it holds names alone.
    if (!isListed && owner.length > 0) {
      for (const each of owner) owners.add(each);
      continue;
    }
    for (const each of account) addresses.add(each);
    hasUnnamed ||= !isListed;
  }
  return { addresses, owners, hasUnnamed };
}
