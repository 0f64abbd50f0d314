import { parseJson } from '../../base/json.ts';
import { type Commitment, satisfiesCommitment } from '../../protocol/commitment.ts';
import { listOf, objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';

export type LandedStatus = Readonly<{
  slot: Slot;
  err: TransactionError | null;
  hasCommitment: (commitment: Commitment) => boolean;
}>;

/** Statuses are in request order; null for unknown signatures. @throws if the result is malformed. */
export function readSignatureStatuses(body: Buffer): { slot: Slot; statuses: (LandedStatus | null)[] } {
  const { context, value } = objectOf(parseJson(body.toString('utf8')), 'response');
  const statuses = listOf(value, 'statuses').map((status) => {
    if (status === null) return null;
    const { confirmationStatus, err, slot } = objectOf(status, 'status');
    return {
      slot: slotOf(u64Of(slot, 'slot')),
      err: (err ?? null) as TransactionError | null,
      hasCommitment: (commitment: Commitment) => satisfiesCommitment(confirmationStatus, commitment),
    };
  });
  return { slot: slotOf(u64Of(objectOf(context, 'context').slot, 'slot')), statuses };
}
