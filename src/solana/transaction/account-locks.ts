import type { LoadedAddresses, Message } from '../message/message.ts';
import { allKeys } from '../message/message-keys.ts';
import type { TransactionError } from './transaction-error.ts';

/** Accounts that one transaction may lock. Source: agave, `Bank::get_transaction_account_lock_limit`. */
export const ACCOUNT_LOCKS_MAX = 64;

/**
 * What is wrong with the set of accounts that a transaction locks, static and loaded together.
 * Source: agave accounts-db `validate_account_locks`.
 * @returns null, 'TooManyAccountLocks' or 'AccountLoadedTwice'.
 */
export function accountLocksFault(message: Message, loaded: LoadedAddresses): TransactionError | null {
  const keys = allKeys(message, loaded);
  if (keys.length > ACCOUNT_LOCKS_MAX) return 'TooManyAccountLocks';
  return new Set(keys).size === keys.length ? null : 'AccountLoadedTwice';
}
