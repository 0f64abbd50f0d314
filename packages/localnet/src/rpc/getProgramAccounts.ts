import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type AccountFilter,
  matchesAccountFilter,
  readFilters,
  verifyFilters,
} from '../../../../src/protocol/rpc/account-filter.ts';
import {
  type AccountConfig,
  accountConfigOf,
  at,
  configObject,
  positional,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readBoolean, readString } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { isTokenProgram, programs } from '../../../../src/solana/programs.ts';
import { ACCOUNT_TYPE_OFFSET, TOKEN_ACCOUNT_BYTES } from '../../../../src/solana/token/token-state.ts';
import type { Bank, LocalNode } from '../node.ts';
import {
  type KeyedAccount,
  keyedAccounts,
  keyedTokenAccounts,
  sortedByAddress,
  viewOf,
} from './account-view.ts';
import { bankFor, withContext } from './context.ts';

type GetProgramAccountsParams = Readonly<{
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

const ADDRESS_LENGTH = 32;
const MINT_OFFSET = 0n;
const OWNER_OFFSET = 32n;

function wantsTokenAccounts(program: Address, filters: readonly AccountFilter[]): boolean {
  return filters.some((filter) => {
    if (filter.kind === 'tokenAccountState') return true;
    if (filter.kind === 'dataSize') return filter.size === BigInt(TOKEN_ACCOUNT_BYTES);
    const isType = program === programs.token2022 && filter.offset === BigInt(ACCOUNT_TYPE_OFFSET);
    return isType && filter.bytes.length === 1 && filter.bytes[0] === 2;
  });
}

/** @throws RpcError -32602 unless 32 bytes are compared. */
function comparesAddress(filters: readonly AccountFilter[], offset: bigint, what: string): boolean {
  const compared = filters.filter((filter) => filter.kind === 'memcmp' && filter.offset === offset);
  for (const filter of compared) {
    const { length } = (filter as Extract<AccountFilter, { kind: 'memcmp' }>).bytes;
    if (length === ADDRESS_LENGTH) continue;
    throw invalidParams(
      `Incorrect byte length ${length} for SPL token ${what} filter, expected ${ADDRESS_LENGTH}`,
    );
  }
  return compared.length > 0;
}

/**
 * Filters as Agave's index search applies them: token accounts are searched by owner, else by mint. The
 * compared value must be complete, and only initialized token accounts match. Source: Agave rpc/src/rpc.rs,
 * `get_spl_token_owner_filter` and `get_spl_token_mint_filter`.
 * @throws RpcError -32602 for an owner or mint without 32 bytes.
 */
function searchFilters(program: Address, filters: readonly AccountFilter[]): readonly AccountFilter[] {
  if (!isTokenProgram(program)) return filters;
  const areTokenAccounts = wantsTokenAccounts(program, filters);
  const byOwner = comparesAddress(filters, OWNER_OFFSET, 'owner') && areTokenAccounts;
  const byMint = !byOwner && comparesAddress(filters, MINT_OFFSET, 'mint') && areTokenAccounts;
  return byOwner || byMint ? [...filters, { kind: 'tokenAccountState' }] : filters;
}

function find(bank: Bank, wanted: GetProgramAccountsParams): KeyedAccount[] {
  const { program, sortResults } = wanted;
  const filters = searchFilters(program, wanted.filters);
  const found: KeyedAccount[] = [];
  for (const keyed of bank.accountsByOwner(program)) {
    if (filters.every((filter) => matchesAccountFilter(filter, keyed[1]))) found.push(keyed);
  }
  return sortResults ? sortedByAddress(found) : found;
}

export function getProgramAccounts(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const wanted = parseGetProgramAccounts(params);
  const { program, config } = wanted;
  const bank = bankFor(node, config);
  const view = viewOf(bank, config, 'binary');
  const found = (isTokenProgram(program) ? keyedTokenAccounts : keyedAccounts)(find(bank, wanted), view);
  return wanted.withContext ? withContext(bank, found) : found;
}
