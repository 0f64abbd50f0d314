import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { createLogger } from '../../../src/base/log.ts';
import type { Call, CallTrace } from '../../../src/protocol/call.ts';
import type { CallAttempt } from '../../../src/protocol/errors.ts';
import type { SubmissionResult } from '../../../src/protocol/submission-result.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from '../../../src/upstream/limits.ts';
import { UpstreamNode } from '../../../src/upstream/node.ts';
import { type SubmitLimits, submitLimits } from '../../../src/upstream/submit/limits.ts';
import { SubmitTargets } from '../../../src/upstream/submit/submit-targets.ts';
import { TransactionSubmitter } from '../../../src/upstream/submit/transaction-submitter.ts';
import { call, closeAfterEach, outcomeOf, type Scene, stage } from './pool.ts';
import { type Behaviour, type MockNode, startMock } from './server.ts';

const payer = Keypair.generate();
let lamports = 0;

export function signedTransaction(): { wire: Buffer; signature: string } {
  const transfer = { fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: ++lamports };
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    blockhash: encodeBase58(Buffer.alloc(32, 9)),
    lastValidBlockHeight: 9,
  });
  transaction.add(SystemProgram.transfer(transfer)).sign(payer);
  return { wire: transaction.serialize(), signature: encodeBase58(transaction.signature!) };
}

export class SubmissionTrace implements CallTrace {
  readonly attempts: CallAttempt[] = [];
  readonly results: SubmissionResult[] = [];

  onAttempt(attempt: CallAttempt): void {
    this.attempts.push(attempt);
  }

  onSubmissionEnd(result: SubmissionResult): void {
    this.results.push(result);
  }
}

export const sendCall = (wire: Buffer, config: object = {}, trace: CallTrace | null = null): Call => ({
  ...call('sendTransaction', [wire.toString('base64'), { encoding: 'base64', ...config }]),
  trace,
});

export type SubmitScene = Omit<Scene, 'send'> &
  Readonly<{
    submitter: TransactionSubmitter;
    sendOnlyMocks: readonly MockNode[];
    all: readonly MockNode[];
    /** Signature, error code or failure code of a submission. */
    submit(wire: Buffer, config?: object, trace?: CallTrace | null): Promise<string>;
  }>;

/** Short intervals; no rebroadcasts by default. */
const testLimits: Partial<SubmitLimits> = {
  attemptTimeoutMs: 2_000,
  rebroadcastIntervalMs: 60_000,
  pollMs: 10,
  expiryPollMs: 10,
};

type Options = Readonly<{ limits?: Partial<SubmitLimits>; upstream?: Partial<UpstreamLimits> }>;

/** Creates submitters with nodes and send-only endpoints on devnet; each is closed after its test. */
export function submittersForEach(): typeof stageSubmitter {
  const closing = closeAfterEach();
  return async (...given) => closing(await stageSubmitter(...given));
}

async function stageSubmitter(
  nodes: readonly Behaviour[],
  sendOnly: readonly Behaviour[] = [],
  { limits, upstream }: Options = {},
): Promise<SubmitScene> {
  const scene = await stage(nodes, upstream);
  const sendOnlyMocks = await Promise.all(sendOnly.map((behaviour) => startMock(behaviour)));
  const extra = sendOnlyMocks.map(
    ({ url }, at) =>
      new UpstreamNode(
        { name: `sender-${at + 1}`, url: `${url}SECRET-PATH`, headers: { 'x-token': 'SECRET-TOKEN' } },
        'devnet',
        defaultUpstreamLimits,
      ),
  );
  const submitter = new TransactionSubmitter(scene.pool, {
    targets: new SubmitTargets(scene.pool, new Map([['devnet', extra]])),
    limits: { ...submitLimits, ...testLimits, ...limits },
    log: createLogger('debug', (line) => (scene.logged as string[]).push(line)),
  });
  const close = async (): Promise<void> => {
    await submitter.close();
    await Promise.all([scene.close(), ...sendOnlyMocks.map((mock) => mock.close())]);
  };
  return {
    ...{ ...scene, submitter, sendOnlyMocks, close, all: [...scene.mocks, ...sendOnlyMocks] },
    submit: async (wire, config, trace) =>
      (await outcomeOf(submitter, sendCall(wire, config, trace))).replaceAll('"', ''),
  };
}

export const sentIn = (mocks: readonly MockNode[]): number =>
  mocks.reduce((sum, mock) => sum + mock.count('sendTransaction'), 0);
