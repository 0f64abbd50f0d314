import type { Address } from '../address.ts';
import type { LoadedAddresses, Message } from '../message/message.ts';
import { allKeys } from '../message/message-keys.ts';
import type { TransactionConfig } from '../message/transaction-config.ts';
import { isHeapAllowed } from './compute-budget.ts';
import type { Transaction } from './transaction.ts';
import { displayTransactionError, type TransactionError } from './transaction-error.ts';

/** Account indexes are single bytes. */
const TOTAL_KEYS_MAX = 256;
/** Limit for outer instructions. Source: agave, feature `static_instruction_limit` (SIMD-0160). */
const INSTRUCTIONS_MAX = 64;

/**
 * Does not check account locks; see `accountLocksFault`. Source: solana-transaction `VersionedTransaction::sanitize`.
 * @returns null if valid, or the text that Agave writes after "invalid transaction: ".
 */
export function sanitizeTransaction(transaction: Transaction): string | null {
  const sane =
    transaction.signatures.length === transaction.message.header.numRequiredSignatures &&
    transaction.message.instructions.length <= INSTRUCTIONS_MAX &&
    messageFault(transaction.message) === null;
  return sane ? null : displayTransactionError('SanitizeFailure');
}

/** Checks only the message, not the signatures or, but for version 1, the instruction limit. */
export function messageFault(message: Message): 'index out of bounds' | 'invalid value' | null {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const { config, accountKeys } = message;
  if (config !== undefined && exceedsVersion1Limits(message)) return 'index out of bounds';
  if (numRequiredSignatures + numReadonlyUnsignedAccounts > accountKeys.length) return 'index out of bounds';
  // The fee payer must be writable.
  if (numReadonlySignedAccounts >= numRequiredSignatures) {
    return message.version === 'legacy' ? 'index out of bounds' : 'invalid value';
  }
  if (config !== undefined && !hasVersion1Values(accountKeys, config)) return 'invalid value';
  const loadedKeys = countLoadedKeys(message);
  if (loadedKeys === null) return 'invalid value';
  return areIndexesInside(message, loadedKeys) ? null : 'index out of bounds';
}

/** Source: SIMD-0385. */
const VERSION_1_SIGNATURES_MAX = 12;
const VERSION_1_KEYS_MAX = 64;

const exceedsVersion1Limits = ({ header, accountKeys, instructions }: Message): boolean =>
  header.numRequiredSignatures > VERSION_1_SIGNATURES_MAX ||
  instructions.length > INSTRUCTIONS_MAX ||
  accountKeys.length > VERSION_1_KEYS_MAX;

const hasVersion1Values = (accountKeys: readonly Address[], { heapSize }: TransactionConfig): boolean =>
  new Set(accountKeys).size === accountKeys.length && (heapSize === null || isHeapAllowed(heapSize));

function areIndexesInside({ accountKeys, instructions }: Message, loadedKeys: number): boolean {
  const staticKeys = accountKeys.length;
  if (staticKeys + loadedKeys > TOTAL_KEYS_MAX) return false;
  return instructions.every(
    ({ programIdIndex, accounts }) =>
      // A program is neither the fee payer nor loaded from a table.
      programIdIndex > 0 &&
      programIdIndex < staticKeys &&
      accounts.every((index) => index < staticKeys + loadedKeys),
  );
}

function countLoadedKeys(message: Message): number | null {
  let count = 0;
  for (const { writableIndexes, readonlyIndexes } of message.addressTableLookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) return null;
    count += loaded;
  }
  return count;
}

/** With feature `increase_tx_account_lock_limit`. Source: agave, `Bank::get_transaction_account_lock_limit`. */
const ACCOUNT_LOCKS_MAX = 128;

/** Checks static and loaded accounts. Source: agave accounts-db `validate_account_locks`. */
export function accountLocksFault(message: Message, loaded: LoadedAddresses): TransactionError | null {
  const keys = allKeys(message, loaded);
  if (keys.length > ACCOUNT_LOCKS_MAX) return 'TooManyAccountLocks';
  return new Set(keys).size === keys.length ? null : 'AccountLoadedTwice';
}
