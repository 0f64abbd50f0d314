import type { Address } from '../../ledger/address.ts';
import { programs } from '../../ledger/programs.ts';
import { ACCOUNT_TYPE_OFFSET, TOKEN_ACCOUNT_BYTES } from '../../ledger/token/token-state.ts';
import type { AccountFilter } from '../../protocol/rpc/account-filter.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';

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

function refuseOddLength(filters: readonly AccountFilter[], offset: bigint, what: string): void {
  for (const filter of filters) {
    if (filter.kind !== 'memcmp' || filter.offset !== offset) continue;
    const { length } = filter.bytes;
    if (length === ADDRESS_LENGTH) continue;
    throw invalidParams(
      `Incorrect byte length ${length} for SPL token ${what} filter, expected ${ADDRESS_LENGTH}`,
    );
  }
}

/**
 * Agave answers searches for token accounts from an index by owner or mint, and then wants whole addresses.
 * @throws RpcError -32602 when the compared owner or mint has not 32 bytes.
 */
export function verifyTokenFilters(program: Address, filters: readonly AccountFilter[]): void {
  if (program !== programs.token && program !== programs.token2022) return;
  if (!wantsTokenAccounts(program, filters)) return;
  refuseOddLength(filters, OWNER_OFFSET, 'owner');
  refuseOddLength(filters, MINT_OFFSET, 'mint');
}
