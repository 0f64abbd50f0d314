import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Lamports } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { configObject, lenientCommitment, positional } from './parameters.ts';
import { member, optional, readBoolean, readVariant } from './serde.ts';

/** Order of Agave's `RpcLargestAccountsFilter`. */
export const largestAccountsFilters = ['circulating', 'nonCirculating'] as const;
export type LargestAccountsFilter = (typeof largestAccountsFilters)[number];

export type GetLargestAccountsParams = Readonly<{
  filter: LargestAccountsFilter | null;
  commitment: Commitment;
}>;
/** Inside a context; the 20 largest, largest first. */
export type GetLargestAccountsResult = readonly Readonly<{ address: Address; lamports: Lamports }>[];

/** `{filter, sortResults, commitment}`; what `sortResults` sorts on a real node is its search, not its answer. */
export function parseGetLargestAccounts(params: JsonValue | undefined): GetLargestAccountsParams {
  const config = configObject(positional(params, 0, 1)[0], 'RpcLargestAccountsConfig');
  const filter = optional(member(config, 'filter'), (name) => readVariant(name, largestAccountsFilters));
  optional(member(config, 'sortResults'), readBoolean);
  return { filter, commitment: lenientCommitment(config) };
}
