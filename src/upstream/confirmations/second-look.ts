import { isDeepStrictEqual } from 'node:util';
import type { Signature } from '../../ledger/signature.ts';
import type { Answer, Call, CallAttempt, CallTrace } from '../../protocol/call.ts';
import { type LandedStatus, readSignatureStatuses } from '../feeds/signature-statuses.ts';

/** Asks another node than the one named. @returns its result; null when there is none that answers. */
export type AskAnother = (call: Call, than: string) => Promise<Answer | null>;

/** Which node it was that answered; null while none has, or nobody knows. */
export class Teller implements CallTrace {
  node: string | null = null;

  attempted({ node, outcome }: CallAttempt): void {
    if (outcome === 'ok') this.node = node;
  }
}

type Statuses = readonly (LandedStatus | null)[];

/** As much as both say; null where one of them knows nothing of it, or something else. */
function common(one: LandedStatus | null, other: LandedStatus | null): LandedStatus | null {
  if (one === null || other === null || !isDeepStrictEqual(one.err, other.err)) return null;
  return { ...one, reached: (commitment) => one.reached(commitment) && other.reached(commitment) };
}

/**
 * What two nodes say of transactions of which one says that they landed. One that does not tell the truth, or is on a fork
 * of its own, ends nothing then; one that is behind delays it by a round. Where nobody else answers, the one is believed.
 * @param callFor - the question for these signatures.
 */
export async function confirmed(
  signatures: readonly Signature[],
  told: Statuses,
  callFor: (signatures: readonly Signature[]) => Call,
  ask: (call: Call) => Promise<Answer | null>,
): Promise<Statuses> {
  const landed = signatures.filter((_, at) => told[at] != null);
  if (landed.length === 0) return told;
  const answer = await ask(callFor(landed));
  if (answer === null) return told;
  const { statuses } = readSignatureStatuses(answer.body);
  const seconds = new Map(landed.map((signature, at) => [signature, statuses[at] ?? null]));
  return signatures.map((signature, at) => common(told[at] ?? null, seconds.get(signature) ?? null));
}
