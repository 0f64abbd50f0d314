import type { Message } from '../message/message.ts';
import { displayTransactionError } from './display-error.ts';
import type { Transaction } from './transaction.ts';

/** Account indexes are bytes. */
const TOTAL_KEYS_MAX = 256;
/** Top-level instructions. Source: agave, feature `static_instruction_limit` (SIMD-0160). */
const INSTRUCTIONS_MAX = 64;

/**
 * Whether a decoded transaction makes sense in itself: its counts agree and its indexes point at keys.
 * Duplicate keys and too many locks are not judged here: see `accountLocksFault`.
 * Source: solana-transaction `VersionedTransaction::sanitize`, solana-message `sanitize` of both versions.
 * @returns null, or what Agave prints after "invalid transaction: ".
 */
export function sanitizeTransaction(transaction: Transaction): string | null {
  const sane =
    transaction.signatures.length === transaction.message.header.numRequiredSignatures &&
    isMessageSane(transaction.message);
  return sane ? null : displayTransactionError('SanitizeFailure');
}

/** Whether a message alone makes sense: the same rules without the signatures. */
export function isMessageSane(message: Message): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const staticKeys = message.accountKeys.length;
  if (numRequiredSignatures + numReadonlyUnsignedAccounts > staticKeys) return false;
  // The fee payer is the first signer and must be writable.
  if (numReadonlySignedAccounts >= numRequiredSignatures) return false;
  if (message.instructions.length > INSTRUCTIONS_MAX) return false;
  const loadedKeys = countLoadedKeys(message);
  if (loadedKeys === null || staticKeys + loadedKeys > TOTAL_KEYS_MAX) return false;
  return message.instructions.every(
    ({ programIdIndex, accounts }) =>
      // A program cannot pay fees, and cannot come from a lookup table.
      programIdIndex > 0 &&
      programIdIndex < staticKeys &&
      accounts.every((index) => index < staticKeys + loadedKeys),
  );
}

/** Keys that the lookups will load; null when a lookup loads none. */
function countLoadedKeys(message: Message): number | null {
  let count = 0;
  for (const { writableIndexes, readonlyIndexes } of message.addressTableLookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) return null;
    count += loaded;
  }
  return count;
}
