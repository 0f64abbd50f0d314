import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type AccountFilter, readFilters, verifyFilters } from './account-filter.ts';
import {
  type AccountConfig,
  accountConfigOf,
  at,
  configObject,
  positional,
  readAddress,
} from './parameters.ts';
import { member, optional, readBoolean, readString } from './serde.ts';

export type GetProgramAccountsParams = Readonly<{
  program: Address;
  filters: readonly AccountFilter[];
  withContext: boolean;
  sortResults: boolean;
  config: AccountConfig;
}>;

/** `program, {filters, withContext, sortResults, encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetProgramAccounts(params: JsonValue | undefined): GetProgramAccountsParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const object = configObject(list[1], 'RpcProgramAccountsConfig');
  const filters = optional(member(object, 'filters'), readFilters) ?? [];
  const sortResults = optional(member(object, 'sortResults'), readBoolean) ?? true;
  const withContext = optional(member(object, 'withContext'), readBoolean) ?? false;
  const config = accountConfigOf(object);
  return {
    program: readAddress(text),
    filters: verifyFilters(filters),
    withContext,
    sortResults,
    config,
  };
}
