import type { Reply } from './clients.ts';

export const submissionModes = [
  ...(['plain', 'unsimulated', 'once', 'twice'] as const),
  ...(['unpayable', 'unpayable-unsimulated'] as const),
] as const;
export type SubmissionMode = (typeof submissionModes)[number];

/**
 * The response to sendTransaction:
 * - `taken`: the signature.
 * - `refused`: an error.
 * - `landed`: an error because the transaction was already processed.
 * - `unknown`: an error that reports an unknown outcome.
 * - `silent`: no response, or an unrelated one.
 */
export type SubmissionResponse = Readonly<{
  kind: 'taken' | 'refused' | 'landed' | 'unknown' | 'silent';
  text: string;
}>;

export type LedgerOutcome = 'landed' | 'failed' | 'expired';

const PREFLIGHT_FAILED = -32002;

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
  if (reply.data.outcome === 'unknown')
    return { kind: reply.data.signature === signature ? 'unknown' : 'silent', text };
  const isProcessed = reply.code === PREFLIGHT_FAILED && /already.?processed/i.test(text);
  return { kind: isProcessed ? 'landed' : 'refused', text };
}

/** Whether the blockhash is unknown, so that a client would sign the transaction again. */
const isBlockhashNotFound = (text: string): boolean => /blockhash.?not.?found/i.test(text);

/** Whether an error of the gateway or a node is unrelated to the transaction. */
const isNodeError = (text: string): boolean => /UPSTREAM_|OVERLOADED|-32005|-32016/.test(text);

/**
 * Fault of a response while a node could have handled the transaction; null if the response is correct.
 * @param isUnpayable - whether its payer lacks funds.
 */
export function answerFault(response: SubmissionResponse, isUnpayable: boolean): string | null {
  if (response.kind === 'taken' || response.kind === 'landed') return null;
  if (response.kind === 'refused' && (isUnpayable || isBlockhashNotFound(response.text))) return null;
  return response.text;
}

/**
 * Fault of a response given the outcome of its transaction, regardless of node faults, because the client may have sent
 * another transaction after an error. Null if the response is correct.
 * @param hadTime - whether a node was healthy long enough for a rebroadcast.
 */
export function outcomeFault(
  response: SubmissionResponse,
  outcome: LedgerOutcome,
  isUnpayable: boolean,
  hadTime: boolean,
): string | null {
  if (response.kind === 'refused' && outcome !== 'expired')
    return `it ${outcome}, but the response was ${response.text}`;
  const isExcused = isUnpayable || isBlockhashNotFound(response.text) || isNodeError(response.text);
  if (response.kind === 'refused' && !isExcused) return `it is valid, but the response was ${response.text}`;
  if (response.kind === 'landed' && outcome === 'expired')
    return `it never landed, but the response was ${response.text}`;
  if (response.kind === 'taken' && outcome === 'expired' && hadTime) return 'it was accepted, but lost';
  if (outcome === 'failed' && !isUnpayable) return 'it is valid, but failed on the ledger';
  return outcome === 'landed' && isUnpayable ? 'it landed although its payer lacks funds' : null;
}
