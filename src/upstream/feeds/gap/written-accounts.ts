import type { Address } from '../../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../../solana/block.ts';
import { allKeys, isWritable } from '../../../solana/message/message-keys.ts';

/** Accounts that a failed transaction still writes: who pays, and a nonce that moves on, which comes first. */
function writtenByFailed({ transaction: { message } }: ExecutedTransaction): Address[] {
  const nonce = message.instructions[0]?.accounts[0];
  const keys = [message.accountKeys[0], nonce === undefined ? undefined : message.accountKeys[nonce]];
  return keys.filter((key) => key !== undefined);
}

function writtenBy(executed: ExecutedTransaction): Address[] {
  const { transaction, meta } = executed;
  if (meta.err !== null) return writtenByFailed(executed);
  const { message } = transaction;
  return allKeys(message, meta.loadedAddresses).filter((_, index) =>
    isWritable(message, index, meta.loadedAddresses),
  );
}

/**
 * The accounts that a block's transactions and rewards may have written. What the runtime writes by itself, such
 * as sysvars, is not among them.
 */
export function writtenAccounts({ transactions, rewards }: Block): Set<Address> {
  const accounts = new Set(rewards.map(({ pubkey }) => pubkey));
  for (const executed of transactions) for (const key of writtenBy(executed)) accounts.add(key);
  return accounts;
}
