import type { KeyRecord } from '../access/key-record.ts';
import type { Visit } from '../access/visit.ts';
import { type SubmissionAttempt, type SubmissionLog, submissionAttempt } from '../observe/submission-log.ts';
import type { Answer, Call, CallTrace, Source } from '../protocol/call.ts';
import { natures } from '../protocol/methods.ts';
import { sentSignature } from '../upstream/sent-signature.ts';
import { explain } from './outcome.ts';

/** What a call is asked of, and who keeps what became of transactions. */
export type AskParts = Readonly<{ source: Source; submissions?: SubmissionLog | undefined }>;

/** Asks for whoever a visit is of. What becomes of a transaction that is handed over is kept. */
export function askFor(
  { source, submissions }: AskParts,
  { key }: Visit,
  call: Call,
  signal?: AbortSignal,
): Promise<Answer> {
  if (submissions === undefined || key === null || !natures[call.row.nature].signed) {
    return source.ask(call, signal);
  }
  return followSend(source, submissions, key, call, signal);
}

/** Hears of the attempts for a submission, and tells whoever wanted to hear of them before. */
class SendTrace implements CallTrace {
  readonly attempts: SubmissionAttempt[] = [];
  readonly #outer: CallTrace | null;

  constructor(outer: CallTrace | null) {
    this.#outer = outer;
  }

  attempted(attempt: Parameters<CallTrace['attempted']>[0]): void {
    this.attempts.push(submissionAttempt(attempt, Date.now()));
    this.#outer?.attempted(attempt);
  }
}

async function followSend(
  source: Source,
  submissions: SubmissionLog,
  { id: keyId, customerId }: KeyRecord,
  call: Call,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { network, params } = call;
  const trace = new SendTrace(call.trace ?? null);
  const at = Date.now();
  let outcome = 'accepted';
  try {
    const answer = await source.ask({ ...call, trace }, signal);
    if (answer.errorCode !== 0) outcome = `JSON-RPC error ${answer.errorCode}`;
    return answer;
  } catch (thrown) {
    outcome = explain(thrown).code;
    throw thrown;
  } finally {
    // What has no signature to be found by is no transaction.
    const signature = sentSignature(params);
    const { attempts } = trace;
    if (signature !== null) submissions.add({ at, signature, customerId, keyId, network, outcome, attempts });
  }
}
