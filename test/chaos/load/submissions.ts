import { setTimeout as delay } from 'node:timers/promises';
import { sign, transfer } from '../../../packages/localnet/test/signed-transactions.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
import type { SeededRandom } from '../nodes/seeded-random.ts';
import type { TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import {
  answerFault,
  classifyResponse,
  type LedgerOutcome,
  outcomeFault,
  type SubmissionMode,
  type SubmissionResponse,
  submissionModes,
} from './submission-outcome.ts';

/** Transactions whose end is not known yet; with more, none is sent. */
const PENDING_MAX = 2_000;
/** Asked of the ledger in one call. */
const STATUSES_MAX = 256;
/** How long a node has to be well for an accepted transaction to be handed over again, some times over. */
const HANDED_OVER_MS = 6_000;
const BLOCKHASH_MS = 2_000;
const TRUTH_MS = 1_000;
/** More than the payer has. */
const TOO_MUCH = 10n ** 18n;
/** So that an account that did not exist may: more than the rent of an empty one. */
const LEAST_LAMPORTS = 1_000_000n;

type Pending = {
  readonly signature: string;
  readonly manner: SubmissionMode;
  readonly startedAt: number;
  readonly lastValidBlockHeight: number;
  /** Answers, as they come; it is not judged before all are there. */
  readonly response: { said: SubmissionResponse; endedAt: number }[];
  awaited: number;
};

type Blockhash = Readonly<{ blockhash: string; lastValidBlockHeight: number }>;
type Status = Readonly<{ err: unknown; confirmationStatus: string }> | null;

export type SubmissionsOptions = Readonly<{
  client: TestClient;
  scene: ChaosFixture;
  checker: FaultChecker;
  chance: SeededRandom;
  perSecond: number;
}>;

const isDoomed = (manner: SubmissionMode): boolean => manner === 'doomed' || manner === 'doomed-unlooked';

function configOf(manner: SubmissionMode): object {
  const fixed = { encoding: 'base64', preflightCommitment: 'confirmed' };
  if (manner === 'once') return { ...fixed, skipPreflight: true, maxRetries: 0 };
  return { ...fixed, skipPreflight: manner === 'unlooked' || manner === 'doomed-unlooked' };
}

/** Sends real transactions and follows each on the ledger itself until it has landed or can land no more. */
export class Submissions {
  readonly outcomes: Record<LedgerOutcome, number> = { landed: 0, failed: 0, expired: 0 };
  /** Answers, by what they say. */
  readonly answers: Record<SubmissionResponse['kind'], number> = {
    taken: 0,
    refused: 0,
    landed: 0,
    unknown: 0,
    silent: 0,
  };
  /** Those that could be paid for and were refused because a node did not know their blockhash: a client signs anew. */
  rejected = 0;
  /** Transactions that were left out because too many were followed. */
  skipped = 0;
  readonly #options: SubmissionsOptions;
  readonly #pending = new Map<string, Pending>();
  #blockhash: Blockhash = { blockhash: '', lastValidBlockHeight: 0 };
  #count = 0n;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
  }

  /** How many are not known to have landed or expired. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Goes on until `isOver`, and until the end of each is known. */
  async run(isOver: () => boolean): Promise<void> {
    await this.#refresh();
    await Promise.all([this.#flow(isOver), this.#blockhashes(isOver), this.#truth(isOver)]);
  }

  async #flow(isOver: () => boolean): Promise<void> {
    const { perSecond, chance } = this.#options;
    for (let next = performance.now(); !isOver(); next += 1_000 / perSecond) {
      await delay(Math.max(0, next - performance.now()));
      if (this.#pending.size >= PENDING_MAX) this.skipped++;
      else this.#send(chance.oneOf(submissionModes));
    }
  }

  async #blockhashes(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await delay(BLOCKHASH_MS);
      await this.#refresh();
    }
  }

  async #refresh(): Promise<void> {
    const { ledger } = this.#options.scene;
    const at = { commitment: 'confirmed' };
    this.#blockhash = (await ledger.result<{ value: Blockhash }>('getLatestBlockhash', [at])).value;
  }

  #send(manner: SubmissionMode): void {
    const { payer, recipients } = this.#options.scene;
    const { blockhash, lastValidBlockHeight } = this.#blockhash;
    // No two alike: equal transactions have one signature. The last recipient's history stays as it is.
    const count = this.#count++;
    const recipient = recipients[Number(count % BigInt(recipients.length - 1))]?.address ?? payer.address;
    const lamports = (isDoomed(manner) ? TOO_MUCH : LEAST_LAMPORTS) + count;
    const { signature, base64 } = sign(payer, [transfer(payer.address, recipient, lamports)], blockhash);
    const awaited = manner === 'twice' ? 2 : 1;
    const startedAt = performance.now();
    const pending: Pending = { signature, manner, startedAt, lastValidBlockHeight, response: [], awaited };
    this.#pending.set(signature, pending);
    for (let nth = 0; nth < awaited; nth++) void this.#hand(pending, base64);
  }

  async #hand(pending: Pending, base64: string): Promise<void> {
    const { client, checker } = this.#options;
    const { signature, manner } = pending;
    const startedAt = performance.now();
    const [reply] = await client.send([{ method: 'sendTransaction', params: [base64, configOf(manner)] }]);
    const endedAt = performance.now();
    const said = classifyResponse(reply ?? { kind: 'none', text: 'no answer' }, signature);
    this.answers[said.kind]++;
    const fault = answerFault(said, isDoomed(manner));
    if (said.kind === 'refused' && fault === null && !isDoomed(manner)) this.rejected++;
    checker.note({ kind: 'send', what: `${manner} ${signature}`, startedAt, endedAt, fault });
    pending.response.push({ said, endedAt });
    pending.awaited--;
  }

  /** Asks the ledger what became of them, until all are known. */
  async #truth(isOver: () => boolean): Promise<void> {
    const { ledger } = this.#options.scene;
    while (!isOver() || this.#pending.size > 0) {
      await delay(TRUTH_MS);
      // The height is read first: what is not there at a height that was final before can land no more.
      const height = await ledger.result<number>('getBlockHeight', [{ commitment: 'finalized' }]);
      const signatures = [...this.#pending.keys()];
      for (let from = 0; from < signatures.length; from += STATUSES_MAX) {
        await this.#submitOne(signatures.slice(from, from + STATUSES_MAX), height);
      }
    }
  }

  async #submitOne(signatures: readonly string[], height: number): Promise<void> {
    const params = [signatures, { searchTransactionHistory: true }];
    const { value } = await this.#options.scene.ledger.result<{ value: Status[] }>(
      'getSignatureStatuses',
      params,
    );
    for (const [at, signature] of signatures.entries()) {
      const pending = this.#pending.get(signature);
      if (pending === undefined || pending.awaited > 0) continue;
      const status = value[at] ?? null;
      if (status !== null && status.confirmationStatus !== 'processed')
        this.#end(pending, status.err === null ? 'landed' : 'failed');
      else if (status === null && height > pending.lastValidBlockHeight) this.#end(pending, 'expired');
    }
  }

  #end({ signature, manner, response, startedAt }: Pending, fate: LedgerOutcome): void {
    this.#pending.delete(signature);
    this.outcomes[fate]++;
    const { checker } = this.#options;
    const now = performance.now();
    const hadTime = checker.faultHistory.hadWellNodeFor(HANDED_OVER_MS, startedAt, now);
    for (const one of response) {
      const fault = outcomeFault(one.said, fate, isDoomed(manner), hadTime);
      if (fault !== null)
        checker.recordViolation(`transaction ${signature}, sent ${manner}: ${fault}`, startedAt, one.endedAt);
    }
  }
}
