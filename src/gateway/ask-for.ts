import type { KeyRecord } from '../access/key-record.ts';
import type { Visit } from '../access/visit.ts';
import {
  type Submission,
  type SubmissionAttempt,
  type SubmissionLog,
  submissionAttempt,
  submissionLogOptions,
} from '../observe/submission-log.ts';
import type {
  Answer,
  Asked,
  Asker,
  Call,
  CallTrace,
  DirectSource,
  Network,
  Source,
} from '../protocol/call.ts';
import { asDirect, askDirectly } from '../protocol/direct-source.ts';
import type { Failure } from '../protocol/errors.ts';
import { natures } from '../protocol/methods.ts';
import type { SendFate } from '../protocol/send-fate.ts';
import { sentSignature } from '../upstream/sent-signature.ts';
import type { SlotSessions } from './slot-sessions.ts';

/** What a call is asked of, who keeps what became of transactions, and what sessions were told. */
export type AskParts = Readonly<{
  source: Source;
  submissions?: SubmissionLog | undefined;
  sessions?: SlotSessions | undefined;
}>;

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

/**
 * Hears of the attempts for a submission, of its end and of what became of it then. Whoever wanted to hear of the call is
 * told as long as it is under way.
 */
class FollowedSend implements CallTrace, Asker {
  readonly #submissions: SubmissionLog;
  readonly #key: KeyRecord;
  readonly #at = Date.now();
  readonly #attempts: SubmissionAttempt[] = [];
  /** null once it was answered: what is followed for minutes must not hold a request and its connection. */
  #call: Call | null;
  #asker: Asker | null;
  #kept: Submission | null = null;

  constructor(submissions: SubmissionLog, key: KeyRecord, call: Call, asker: Asker) {
    this.#submissions = submissions;
    this.#key = key;
    this.#call = call;
    this.#asker = asker;
  }

  attempted(attempt: Parameters<CallTrace['attempted']>[0]): void {
    if (this.#attempts.length < submissionLogOptions.attemptsMax) {
      this.#attempts.push(submissionAttempt(attempt, Date.now()));
    }
    this.#call?.trace?.attempted(attempt);
  }

  answered(answer: Answer): void {
    this.#end(answer.errorCode === 0 ? 'accepted' : `JSON-RPC error ${answer.errorCode}`)?.answered(answer);
  }

  failed(failure: Failure): void {
    this.#end(failure.code)?.failed(failure);
  }

  followed(fate: SendFate): void {
    if (this.#kept === null) return;
    this.#kept.fate = fate;
    this.#submissions.add(this.#kept);
  }

  /** @returns whoever is to be told. */
  #end(outcome: string): Asker | null {
    const [call, asker] = [this.#call, this.#asker];
    this.#call = null;
    this.#asker = null;
    // What has no signature to be found by is no transaction.
    const signature = call === null ? null : sentSignature(call.params);
    if (call !== null && signature !== null) this.#keep(signature, call.network, outcome);
    return asker;
  }

  #keep(signature: string, network: Network, outcome: string): void {
    const { id: keyId, customerId } = this.#key;
    const attempts = this.#attempts;
    this.#kept = { at: this.#at, signature, customerId, keyId, network, outcome, attempts, fate: null };
    this.#submissions.add(this.#kept);
  }
}
