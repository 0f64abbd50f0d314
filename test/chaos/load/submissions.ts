import { setTimeout as delay } from 'node:timers/promises';
import { sign, transfer } from '../../../packages/localnet/test/signed-transactions.ts';
import { Pace, waitUntil } from '../../programs/pace.ts';
import type { SeededRandom } from '../nodes/fault-injector.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
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

const PENDING_MAX = 2_000;
const STATUSES_MAX = 256;
/** A node that is healthy for this time receives several rebroadcasts. */
const REBROADCAST_MS = 6_000;
const BLOCKHASH_MS = 2_000;
const TRUTH_MS = 1_000;
const TOO_MUCH = 10n ** 18n;
/** More than the rent of an empty account. */
const LEAST_LAMPORTS = 1_000_000n;

type Pending = {
  readonly signature: string;
  readonly mode: SubmissionMode;
  readonly startedAt: number;
  readonly lastValidBlockHeight: number;
  readonly response: { result: SubmissionResponse; endedAt: number }[];
  awaited: number;
};

type Blockhash = Readonly<{ blockhash: string; lastValidBlockHeight: number }>;
type Status = Readonly<{ err: unknown; confirmationStatus: string }> | null;

export type SubmissionsOptions = Readonly<{
  client: TestClient;
  fixture: ChaosFixture;
  checker: FaultChecker;
  random: SeededRandom;
  perSecond: number;
}>;

const isUnpayable = (mode: SubmissionMode): boolean =>
  mode === 'unpayable' || mode === 'unpayable-unsimulated';

function configOf(mode: SubmissionMode): object {
  const fixed = { encoding: 'base64', preflightCommitment: 'confirmed' };
  if (mode === 'once') return { ...fixed, skipPreflight: true, maxRetries: 0 };
  return { ...fixed, skipPreflight: mode === 'unsimulated' || mode === 'unpayable-unsimulated' };
}

export class Submissions {
  readonly outcomes: Record<LedgerOutcome, number> = { landed: 0, failed: 0, expired: 0 };
  readonly answers: Record<SubmissionResponse['kind'], number> = {
    ...{ taken: 0, refused: 0, landed: 0, unknown: 0, silent: 0 },
  };
  /** Number of valid transactions that were rejected because a node did not know their blockhash. */
  rejected = 0;
  skipped = 0;
  readonly #options: SubmissionsOptions;
  readonly #pending = new Map<string, Pending>();
  #blockhash: Blockhash = { blockhash: '', lastValidBlockHeight: 0 };
  #count = 0n;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
  }

  get pending(): number {
    return this.#pending.size;
  }

  async run(isOver: () => boolean): Promise<void> {
    await this.#refresh();
    await Promise.all([this.#flow(isOver), this.#blockhashes(isOver), this.#truth(isOver)]);
  }

  async #flow(isOver: () => boolean): Promise<void> {
    const { perSecond, random } = this.#options;
    const act = async (): Promise<void> => {
      if (this.#pending.size >= PENDING_MAX) this.skipped++;
      else this.#send(random.oneOf(submissionModes));
    };
    const pace = new Pace({ perSecond, inFlightMax: PENDING_MAX, act });
    await waitUntil(isOver);
    await pace.stop();
  }

  async #blockhashes(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await delay(BLOCKHASH_MS);
      await this.#refresh();
    }
  }

  async #refresh(): Promise<void> {
    const { ledger } = this.#options.fixture;
    const at = { commitment: 'confirmed' };
    this.#blockhash = (await ledger.result<{ value: Blockhash }>('getLatestBlockhash', [at])).value;
  }

  #send(mode: SubmissionMode): void {
    const { payer, recipients } = this.#options.fixture;
    const { blockhash, lastValidBlockHeight } = this.#blockhash;
    // Each amount is unique, since equal transactions have the same signature. The last recipient must not change.
    const count = this.#count++;
    const recipient = recipients[Number(count % BigInt(recipients.length - 1))]?.address ?? payer.address;
    const lamports = (isUnpayable(mode) ? TOO_MUCH : LEAST_LAMPORTS) + count;
    const { signature, base64 } = sign(payer, [transfer(payer.address, recipient, lamports)], blockhash);
    const awaited = mode === 'twice' ? 2 : 1;
    const startedAt = performance.now();
    const pending: Pending = { signature, mode, startedAt, lastValidBlockHeight, response: [], awaited };
    this.#pending.set(signature, pending);
    for (let nth = 0; nth < awaited; nth++) void this.#submit(pending, base64);
  }

  async #submit(pending: Pending, base64: string): Promise<void> {
    const { client, checker } = this.#options;
    const { signature, mode } = pending;
    const startedAt = performance.now();
    const [reply] = await client.send([{ method: 'sendTransaction', params: [base64, configOf(mode)] }]);
    const endedAt = performance.now();
    const result = classifyResponse(reply ?? { kind: 'none', text: 'no answer' }, signature);
    this.answers[result.kind]++;
    const fault = answerFault(result, isUnpayable(mode));
    if (result.kind === 'refused' && fault === null && !isUnpayable(mode)) this.rejected++;
    checker.note({ kind: 'send', what: `${mode} ${signature}`, startedAt, endedAt, fault });
    pending.response.push({ result, endedAt });
    pending.awaited--;
  }

  async #truth(isOver: () => boolean): Promise<void> {
    const { ledger } = this.#options.fixture;
    while (!isOver() || this.#pending.size > 0) {
      await delay(TRUTH_MS);
      // The height is read before the statuses, so that a missing transaction cannot land later.
      const height = await ledger.result<number>('getBlockHeight', [{ commitment: 'finalized' }]);
      const signatures = [...this.#pending.keys()];
      for (let from = 0; from < signatures.length; from += STATUSES_MAX) {
        await this.#readOutcomes(signatures.slice(from, from + STATUSES_MAX), height);
      }
    }
  }

  async #readOutcomes(signatures: readonly string[], height: number): Promise<void> {
    const params = [signatures, { searchTransactionHistory: true }];
    const { value } = await this.#options.fixture.ledger.result<{ value: Status[] }>(
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

  #end({ signature, mode, response, startedAt }: Pending, outcome: LedgerOutcome): void {
    this.#pending.delete(signature);
    this.outcomes[outcome]++;
    const { checker } = this.#options;
    const now = performance.now();
    const hadTime = checker.faultHistory.hadHealthyNodeFor(REBROADCAST_MS, startedAt, now);
    for (const one of response) {
      const fault = outcomeFault(one.result, outcome, isUnpayable(mode), hadTime);
      if (fault !== null)
        checker.recordViolation(`transaction ${signature}, sent ${mode}: ${fault}`, startedAt, one.endedAt);
    }
  }
}
