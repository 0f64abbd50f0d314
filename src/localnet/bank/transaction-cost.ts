import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { Message } from '../../solana/message/message.ts';

/** Source: agave cost-model, `block_cost_limits`. */
const SIGNATURE_COST = 720n;
const WRITE_LOCK_COST = 300n;
const DATA_BYTES_PER_UNIT = 4n;
const PAGE_COST = 8n;
const PAGE_BYTES = 32 * 1024;
/** Most that one block may cost. */
export const BLOCK_COST_MAX = 60_000_000n;

/** Source: SIMD-0186. */
const ACCOUNT_BASE_BYTES = 64;
const LOOKUP_TABLE_BASE_BYTES = 8248;

/**
 * What a transaction takes of a block's capacity: signatures, write locks, instruction data, the units it
 * really used, and the accounts it loaded. Precompile signatures are not counted.
 */
export function costUnitsOf(
  { header, instructions }: Message,
  used: Readonly<{ writableCount: number; loadedAccountsDataSize: number; units: bigint }>,
): bigint {
  const dataBytes = instructions.reduce((sum, { data }) => sum + data.length, 0);
  return (
    BigInt(header.numRequiredSignatures) * SIGNATURE_COST +
    BigInt(used.writableCount) * WRITE_LOCK_COST +
    BigInt(dataBytes) / DATA_BYTES_PER_UNIT +
    used.units +
    BigInt(Math.ceil(used.loadedAccountsDataSize / PAGE_BYTES)) * PAGE_COST
  );
}

/** Bytes of accounts that running a transaction loads: its keys, their programs' code and its lookup tables. */
export function loadedDataSizeOf(
  { addressTableLookups }: Message,
  keys: readonly Address[],
  read: (address: Address) => Account | null,
  codeOf: (program: Account) => Address | null,
): number {
  let bytes = addressTableLookups.length * LOOKUP_TABLE_BASE_BYTES;
  for (const key of keys) {
    const account = read(key);
    if (account === null) continue;
    bytes += ACCOUNT_BASE_BYTES + account.data.length;
    const code = account.executable ? codeOf(account) : null;
    const codeAccount = code === null || keys.includes(code) ? null : read(code);
    if (codeAccount !== null) bytes += ACCOUNT_BASE_BYTES + codeAccount.data.length;
  }
  return bytes;
}
