import type { JsonValue } from '../../base/json.ts';
import { readFilters, verifyFilters } from '../rpc/account-filter.ts';
import { accountConfigOf, at, configObject, positional } from '../rpc/parameters.ts';
import { member, optional, readBoolean, readString } from '../rpc/serde.ts';
import type { SubscriptionOf } from '../subscriptions.ts';
import { readSubscribedAddress } from './pubsub-keys.ts';

/**
 * `program, {encoding, filters, commitment}`; `dataSlice`, `minContextSlot`, `withContext` and `sortResults` are
 * read and have no effect. Unlike elsewhere the filters are verified before the address.
 */
export function parseProgramSubscribe(params: JsonValue | undefined): SubscriptionOf<'program'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcProgramAccountsConfig');
  const unverified = optional(member(config, 'filters'), readFilters) ?? [];
  optional(member(config, 'sortResults'), readBoolean);
  optional(member(config, 'withContext'), readBoolean);
  const { commitment, encoding } = accountConfigOf(config);
  const filters = verifyFilters(unverified);
  const program = readSubscribedAddress(text);
  return { kind: 'program', program, commitment, encoding: encoding ?? 'binary', filters };
}
