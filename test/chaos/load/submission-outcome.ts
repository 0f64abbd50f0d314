import type { Reply } from './clients.ts';

/** How a transaction is sent. */
export const submissionModes = ['plain', 'unlooked', 'once', 'twice', 'doomed', 'doomed-unlooked'] as const;
export type SubmissionMode = (typeof submissionModes)[number];

/**
 * What an answer to sendTransaction says.
 * - `taken`: its signature.
 * - `refused`: an error that says that it was not taken; `why` is what stopped it.
 * - `landed`: an error that says that it was processed already.
 * - `unknown`: nobody knows whether it was taken, and the answer says so.
 * - `silent`: no answer, or one of something else.
 */
export type SubmissionResponse = Readonly<{
  kind: 'taken' | 'refused' | 'landed' | 'unknown' | 'silent';
  text: string;
}>;

/** What the ledger knows of a transaction in the end. */
export type LedgerOutcome = 'landed' | 'failed' | 'expired';

const PREFLIGHT_FAILED = -32002;

/** What an answer says, to a transaction with this signature. */
export function classifyResponse(reply: Reply, signature: string): SubmissionResponse {
  if (reply.kind === 'result') {
    const isOwn = reply.result === signature;
    return {
      kind: isOwn ? 'taken' : 'silent',
      text: isOwn ? signature : `the result ${JSON.stringify(reply.result)}`,
    };
  }
  const { text } = reply;
  if (reply.kind !== 'error') return { kind: 'silent', text };
  if (reply.data.outcome === 'unknown') {
    const isNamed = reply.data.signature === signature;
    return { kind: isNamed ? 'unknown' : 'silent', text };
  }
  const isProcessed = reply.code === PREFLIGHT_FAILED && /already.?processed/i.test(text);
  return { kind: isProcessed ? 'landed' : 'refused', text };
}

/** Whether an error says that the blockhash is not known, which a client mends by signing anew. */
const isBlockhashNotFound = (text: string): boolean => /blockhash.?not.?found/i.test(text);

/** Whether an error is the gateway's, or a node's of itself: it says nothing about the transaction. */
const isNodeError = (text: string): boolean => /UPSTREAM_|OVERLOADED|-32005|-32016/.test(text);

/**
 * What is wrong with an answer at once, when a node could have looked at the transaction; null when nothing is.
 * @param isDoomed - it cannot be paid for.
 */
export function answerFault(response: SubmissionResponse, isDoomed: boolean): string | null {
  if (response.kind === 'taken' || response.kind === 'landed') return null;
  if (response.kind === 'refused' && (isDoomed || isBlockhashNotFound(response.text))) return null;
  return response.text;
}

/**
 * What is wrong with an answer in the light of what became of the transaction; null when nothing is. Whatever the nodes
 * had: who was told that a transaction was not taken may have sent another in its place.
 * @param hadTime - a node was well for long enough, while it could land, to hand it over again.
 */
export function outcomeFault(
  response: SubmissionResponse,
  outcome: LedgerOutcome,
  isDoomed: boolean,
  hadTime: boolean,
): string | null {
  if (response.kind === 'refused' && outcome !== 'expired')
    return `it ${outcome}, and the answer was ${response.text}`;
  if (
    response.kind === 'refused' &&
    !isDoomed &&
    !isBlockhashNotFound(response.text) &&
    !isNodeError(response.text)
  )
    return `there is nothing wrong with it, and the answer was ${response.text}`;
  if (response.kind === 'landed' && outcome === 'expired')
    return `it never landed, and the answer was ${response.text}`;
  if (response.kind === 'taken' && outcome === 'expired' && hadTime) return 'it was accepted, and was lost';
  if (outcome === 'failed' && !isDoomed) return 'it failed on the ledger, and there is nothing wrong with it';
  return outcome === 'landed' && isDoomed ? 'it landed, and could not be paid for' : null;
}
