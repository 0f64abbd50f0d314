import { isDeepStrictEqual } from 'node:util';
import type { Call, CallAttempt, CallTrace, RpcResponse } from '../../protocol/call.ts';
import type { Signature } from '../../solana/signature.ts';
import { type LandedStatus, readSignatureStatuses } from '../feeds/signature-statuses.ts';

/** Asks another node than the one named. @returns its result; null when there is none that answers. */
export type OtherNodeQuery = (call: Call, excludedNode: string) => Promise<RpcResponse | null>;

/** Which node it was that answered; null while none has, or nobody knows. */
export class RespondingNode implements CallTrace {
  node: string | null = null;

  onAttempt({ node, outcome }: CallAttempt): void {
    if (outcome === 'ok') this.node = node;
  }
}

type Statuses = readonly (LandedStatus | null)[];

/** As much as both say; null where one of them knows nothing of it, or something else. */
function agreedStatus(one: LandedStatus | null, other: LandedStatus | null): LandedStatus | null {
  if (one === null || other === null || !isDeepStrictEqual(one.err, other.err)) return null;
  return {
    ...one,
    hasCommitment: (commitment) => one.hasCommitment(commitment) && other.hasCommitment(commitment),
  };
}

/**
 * What two nodes say of transactions of which one says that they landed. One that does not tell the truth, or is on a fork
 * of its own, ends nothing then; one that is behind delays it by a round. Where nobody else answers, the one is believed.
 * @param callFor - the question for these signatures.
 */
export async function crossCheckStatuses(
  signatures: readonly Signature[],
  reported: Statuses,
  callFor: (signatures: readonly Signature[]) => Call,
  query: (call: Call) => Promise<RpcResponse | null>,
): Promise<Statuses> {
  const landed = signatures.filter((_, at) => reported[at] != null);
  if (landed.length === 0) return reported;
  const response = await query(callFor(landed));
  if (response === null) return reported;
  const { statuses } = readSignatureStatuses(response.body);
  const secondStatuses = new Map(landed.map((signature, at) => [signature, statuses[at] ?? null]));
  return signatures.map((signature, at) =>
    agreedStatus(reported[at] ?? null, secondStatuses.get(signature) ?? null),
  );
}
