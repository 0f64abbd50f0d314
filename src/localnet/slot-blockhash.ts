import { createHash } from 'node:crypto';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../ledger/blockhash.ts';
import { signatureBytes } from '../ledger/signature.ts';
import type { Transaction } from '../ledger/transaction/transaction.ts';

/** The blockhash of a slot: it seals the hash before it, the slot, and every signature in it, in order. */
export function slotBlockhash(
  previous: Blockhash,
  slot: number,
  transactions: readonly Transaction[],
): Blockhash {
  const hash = createHash('sha256').update(blockhashBytes(previous));
  const slotBytes = Buffer.alloc(8);
  slotBytes.writeBigUInt64LE(BigInt(slot));
  hash.update(slotBytes);
  for (const { signatures } of transactions) {
    for (const signature of signatures) hash.update(signatureBytes(signature));
  }
  return blockhashFromBytes(hash.digest());
}
