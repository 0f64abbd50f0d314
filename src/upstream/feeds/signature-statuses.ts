import { parseJson } from '../../base/json.ts';
import { type Commitment, satisfiesCommitment } from '../../protocol/commitment.ts';
import { listOf, objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';

/** What became of a transaction that landed. */
export type LandedStatus = Readonly<{
  slot: Slot;
  err: TransactionError | null;
  /** Whether its slot came to a commitment. */
  hasCommitment: (commitment: Commitment) => boolean;
}>;

/**
 * Reads what getSignatureStatuses answers.
 * @returns the slot at which it was looked, and the statuses in the order asked; null for what is not known.
 * @throws whatever says that this is no such answer.
 */
export function readSignatureStatuses(body: Buffer): { slot: Slot; statuses: (LandedStatus | null)[] } {
  const { context, value } = objectOf(parseJson(body.toString('utf8')), 'an answer');
  const statuses = listOf(value, 'statuses').map((status) => {
    if (status === null) return null;
    const { confirmationStatus, err, slot } = objectOf(status, 'a status');
    return {
      slot: slotOf(u64Of(slot, 'a slot')),
      err: (err ?? null) as TransactionError | null,
      hasCommitment: (commitment: Commitment) => satisfiesCommitment(confirmationStatus, commitment),
    };
  });
  return { slot: slotOf(u64Of(objectOf(context, 'a context').slot, 'a slot')), statuses };
}
