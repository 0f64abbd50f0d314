import type { AccountFilter } from '../../protocol/rpc/account-filter.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { Address } from '../../solana/address.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { ACCOUNT_TYPE_OFFSET, TOKEN_ACCOUNT_BYTES } from '../../solana/token/token-state.ts';

const ADDRESS_LENGTH = 32;
const MINT_OFFSET = 0n;
const OWNER_OFFSET = 32n;

/** Whether the filters let only token accounts of the program through. */
function wantsTokenAccounts(program: Address, filters: readonly AccountFilter[]): boolean {
  return filters.some((filter) => {
    if (filter.kind === 'tokenAccountState') return true;
    if (filter.kind === 'dataSize') return filter.size === BigInt(TOKEN_ACCOUNT_BYTES);
    const isType = program === programs.token2022 && filter.offset === BigInt(ACCOUNT_TYPE_OFFSET);
    return isType && filter.bytes.length === 1 && filter.bytes[0] === 2;
  });
}

/** Whether an address at the offset is compared. @throws RpcError -32602 when what is compared has not 32 bytes. */
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
 * The filters as a search among a program's accounts applies them. Agave searches for token accounts in an index
 * by owner or else by mint: what is compared there must be whole, whatever the other filters are, and such a
 * search finds initialized token accounts only. With an owner to search by nobody looks at the mint.
 * Source: Agave rpc/src/rpc.rs, `get_spl_token_owner_filter` and `get_spl_token_mint_filter`.
 * @throws RpcError -32602 when the compared owner or mint has not 32 bytes.
 */
export function searchFilters(program: Address, filters: readonly AccountFilter[]): readonly AccountFilter[] {
  if (!isTokenProgram(program)) return filters;
  const areTokenAccounts = wantsTokenAccounts(program, filters);
  const byOwner = comparesAddress(filters, OWNER_OFFSET, 'owner') && areTokenAccounts;
  const byMint = !byOwner && comparesAddress(filters, MINT_OFFSET, 'mint') && areTokenAccounts;
  return byOwner || byMint ? [...filters, { kind: 'tokenAccountState' }] : filters;
}
