import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Message } from '../../../../src/solana/message/message.ts';
import {
  decodeNonce,
  durableNonceOf,
  matchingNonce,
  NONCE_BYTES,
  type NonceUse,
  nonceOfTransaction,
} from '../../../../src/solana/nonce.ts';
import { programs } from '../../../../src/solana/programs.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';
import { BLOCKHASH_AGE_MAX, type RecentBlocks } from '../history/recent-blocks.ts';
import { rentExemptMinimum } from './sysvar-accounts.ts';
import type { StateView } from './vm.ts';

/**
 * Source: agave svm, `validate_fee_payer`.
 * @returns null if the account can pay.
 */
export function feePayerError(payer: Account | null, fee: Lamports): TransactionError | null {
  if (payer === null || payer.lamports === 0n) return 'AccountNotFound';
  const reserve = minimumReserveOf(payer);
  if (reserve === null) return 'InvalidAccountForFee';
  if (payer.lamports < reserve + fee) return 'InsufficientFundsForFee';
  const rest = payer.lamports - fee;
  const minimum = rentExemptMinimum(payer.data.length);
  const becomesRentPaying = rest > 0n && rest < minimum && payer.lamports >= minimum;
  return becomesRentPaying ? { InsufficientFundsForRent: { account_index: 0 } } : null;
}

/** Lamports that must remain, such as the rent of a nonce account; null if the account cannot pay fees. */
function minimumReserveOf({ owner, data }: Account): bigint | null {
  if (owner !== programs.system) return null;
  if (data.length === 0) return 0n;
  return data.length === NONCE_BYTES && decodeNonce(data)?.data ? rentExemptMinimum(NONCE_BYTES) : null;
}

/** null if the balance is 0. */
export function afterFee(payer: Account, fee: Lamports): Account | null {
  const rest = payer.lamports - fee;
  return rest === 0n ? null : { ...payer, lamports: lamports(rest) };
}

/** Source: agave cost-model, `block_cost_limits`. */
const SIGNATURE_COST = 720n;
const WRITE_LOCK_COST = 300n;
const DATA_BYTES_PER_UNIT = 4n;
const PAGE_COST = 8n;
const PAGE_BYTES = 32 * 1024;
/** Maximum cost of a block. */
export const BLOCK_COST_MAX = 60_000_000n;

/** Source: SIMD-0186. */
const ACCOUNT_BASE_BYTES = 64;
const LOOKUP_TABLE_BASE_BYTES = 8248;

/**
 * Block cost of a transaction: signatures, write locks, instruction data, used units, loaded account data.
 * Precompile signatures are not counted.
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

/** Size of the loaded data: accounts, program code and lookup tables. */
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

/** Valid age. `nonce` is null for a recent blockhash. */
export type TransactionAge = Readonly<{ nonce: NonceUse | null }>;

/**
 * Source: agave runtime, `check_transaction_age`.
 * @param newestSlot - newest block with a hash.
 * @param ageMax - maximum number of blocks since the blockhash.
 * @returns null for BlockhashNotFound.
 */
export function ageOfTransaction(
  { message }: Transaction,
  newestSlot: number,
  recentBlocks: RecentBlocks,
  view: StateView,
  ageMax: number = BLOCKHASH_AGE_MAX,
): TransactionAge | null {
  const age = recentBlocks.ageOf(message.recentBlockhash, newestSlot);
  if (age !== null && age <= ageMax) return { nonce: null };
  const nonce = nonceOfTransaction(message);
  if (nonce === null || message.recentBlockhash === durableNonceOf(view.lastBlockhash)) return null;
  const data = matchingNonce(view.account(nonce.account), message.recentBlockhash);
  return data !== null && nonce.signers.includes(data.authority) ? { nonce } : null;
}

/**
 * Last tip at which a transaction is retried: when its blockhash expires, or as late for a durable nonce. Source: agave
 * rpc/src/rpc.rs, `send_transaction`.
 */
export function lastTipFor({ message }: Transaction, tip: number, recentBlocks: RecentBlocks): number {
  const age = recentBlocks.ageOf(message.recentBlockhash, tip);
  const used = age === null || age > BLOCKHASH_AGE_MAX ? 0 : age;
  return tip + BLOCKHASH_AGE_MAX - used;
}
