import type { Account } from '../../solana/account/account.ts';
import { isTokenAccount } from '../../solana/token/token-state.ts';
import type { AccountFilter } from './account-filter.ts';

function hasBytes(data: Uint8Array, offset: bigint, bytes: Uint8Array): boolean {
  if (offset + BigInt(bytes.length) > BigInt(data.length)) return false;
  const start = Number(offset);
  return bytes.every((byte, i) => data[start + i] === byte);
}

/** Whether an account matches a filter. Source: Agave rpc/src/filter.rs. */
export function matchesAccountFilter(filter: AccountFilter, { data }: Account): boolean {
  switch (filter.kind) {
    case 'dataSize':
      return BigInt(data.length) === filter.size;
    case 'memcmp':
      return hasBytes(data, filter.offset, filter.bytes);
    case 'tokenAccountState':
      return isTokenAccount(data);
  }
}
