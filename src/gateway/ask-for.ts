import type { KeyRecord } from '../access/key-record.ts';
import type { Visit } from '../access/visit.ts';
import { type SubmissionAttempt, type SubmissionLog, submissionAttempt } from '../observe/submission-log.ts';
import type { Answer, Asked, Asker, Call, CallTrace, DirectSource, Source } from '../protocol/call.ts';
import { asDirect, askDirectly } from '../protocol/direct-source.ts';
import type { Failure } from '../protocol/errors.ts';
import { natures } from '../protocol/methods.ts';
import { sentSignature } from '../upstream/sent-signature.ts';

/** What a call is asked of, and who keeps what became of transactions. */
export type AskParts = Readonly<{ source: Source; submissions?: SubmissionLog | undefined }>;

/** Asks for whoever a visit is of. What becomes of a transaction that is handed over is kept. */
export function putFor(
  source: DirectSource,
  submissions: SubmissionLog | undefined,
  { key }: Visit,
  call: Call,
  asker: Asker,
): Asked {
  if (submissions === undefined || key === null || !natures[call.row.nature].signed) {
    return source.put(call, asker);
  }
  const followed = new FollowedSend(submissions, key, call, asker);
  return source.put({ ...call, trace: followed }, followed);
}

/** The same as a promise. */
export function askFor(
  { source, submissions }: AskParts,
  visit: Visit,
  call: Call,
  signal?: AbortSignal,
): Promise<Answer> {
  const direct = asDirect(source);
  return askDirectly(
    { put: (asked, asker) => putFor(direct, submissions, visit, asked, asker) },
    call,
    signal,
  );
}

/** Hears of the attempts for a submission and of its end, and tells whoever wanted to hear of them. */
class FollowedSend implements CallTrace, Asker {
  readonly #submissions: SubmissionLog;
  readonly #key: KeyRecord;
  readonly #call: Call;
  readonly #asker: Asker;
  readonly #at = Date.now();
  readonly #attempts: SubmissionAttempt[] = [];

  constructor(submissions: SubmissionLog, key: KeyRecord, call: Call, asker: Asker) {
    this.#submissions = submissions;
    this.#key = key;
    this.#call = call;
    this.#asker = asker;
  }

  attempted(attempt: Parameters<CallTrace['attempted']>[0]): void {
    this.#attempts.push(submissionAttempt(attempt, Date.now()));
    this.#call.trace?.attempted(attempt);
  }

  answered(answer: Answer): void {
    this.#keep(answer.errorCode === 0 ? 'accepted' : `JSON-RPC error ${answer.errorCode}`);
    this.#asker.answered(answer);
  }

  failed(failure: Failure): void {
    this.#keep(failure.code);
    this.#asker.failed(failure);
  }

  #keep(outcome: string): void {
    // What has no signature to be found by is no transaction.
    const signature = sentSignature(this.#call.params);
    if (signature === null) return;
    const { id: keyId, customerId } = this.#key;
    const { network } = this.#call;
    const attempts = this.#attempts;
    this.#submissions.add({ at: this.#at, signature, customerId, keyId, network, outcome, attempts });
  }
}
