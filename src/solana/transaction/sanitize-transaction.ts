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
    transaction.message.instructions.length <= INSTRUCTIONS_MAX &&
    messageFault(transaction.message) === null;
  return sane ? null : displayTransactionError('SanitizeFailure');
}

/** What is wrong with a message; the words are Agave's (`SanitizeError`). */
export type MessageFault = 'index out of bounds' | 'invalid value';

/**
 * Whether a message alone makes sense: the same rules without the signatures, and without the bound on
 * instructions, which only transactions have.
 */
export function messageFault(message: Message): MessageFault | null {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const staticKeys = message.accountKeys.length;
  if (numRequiredSignatures + numReadonlyUnsignedAccounts > staticKeys) return 'index out of bounds';
  // The fee payer is the first signer and must be writable.
  if (numReadonlySignedAccounts >= numRequiredSignatures) {
    return message.version === 'legacy' ? 'index out of bounds' : 'invalid value';
  }
  const loadedKeys = countLoadedKeys(message);
  if (loadedKeys === null) return 'invalid value';
  return areIndexesInside(message, loadedKeys) ? null : 'index out of bounds';
}

function areIndexesInside({ accountKeys, instructions }: Message, loadedKeys: number): boolean {
  const staticKeys = accountKeys.length;
  if (staticKeys + loadedKeys > TOTAL_KEYS_MAX) return false;
  return instructions.every(
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
