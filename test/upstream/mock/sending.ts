import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { createLogger } from '../../../src/base/log.ts';
import { encodeBase58 } from '../../../src/ledger/base58.ts';
import type { Asker, Call, CallAttempt, CallTrace, DirectSource } from '../../../src/protocol/call.ts';
import type { SendFate } from '../../../src/protocol/send-fate.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from '../../../src/upstream/limits.ts';
import { UpstreamNode } from '../../../src/upstream/node.ts';
import { type SendLimits, sendLimits } from '../../../src/upstream/send/limits.ts';
import { Senders } from '../../../src/upstream/send/senders.ts';
import { Sending } from '../../../src/upstream/send/sending.ts';
import { call, type Scene, stage } from './pool.ts';
import { type Behaviour, type MockNode, startMock } from './server.ts';

const payer = Keypair.generate();
let lamports = 0;

/** A signed transaction that no other is like. */
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

/** Hears what becomes of a transaction. */
export class Followed implements CallTrace {
  readonly attempts: CallAttempt[] = [];
  readonly fates: SendFate[] = [];

  attempted(attempt: CallAttempt): void {
    this.attempts.push(attempt);
  }

  followed(fate: SendFate): void {
    this.fates.push(fate);
  }
}

/** sendTransaction with these options; a trace, where somebody hears. */
export const sendCall = (wire: Buffer, config: object = {}, trace: CallTrace | null = null): Call => ({
  ...call('sendTransaction', [wire.toString('base64'), { encoding: 'base64', ...config }]),
  trace,
});

export type SendingScene = Scene & Readonly<{ sending: Sending; senders: readonly MockNode[] }>;

/** Short enough for tests; what is accepted is not rebroadcast unless a test wants it. */
const testLimits: Partial<SendLimits> = {
  attemptTimeoutMs: 2_000,
  rebroadcastMs: 60_000,
  statusPollMs: 10,
  expiryPollMs: 10,
};

type Options = Readonly<{ limits?: Partial<SendLimits>; upstream?: Partial<UpstreamLimits> }>;

/** Sending over nodes and endpoints for sending alone, all on devnet. */
export async function stageSending(
  nodes: readonly Behaviour[],
  sendOnly: readonly Behaviour[] = [],
  { limits, upstream }: Options = {},
): Promise<SendingScene> {
  const scene = await stage(nodes, upstream);
  const senders = await Promise.all(sendOnly.map((behaviour) => startMock(behaviour)));
  const extra = senders.map(
    ({ url }, at) =>
      new UpstreamNode(
        { name: `sender-${at + 1}`, url: `${url}SECRET-PATH`, headers: { 'x-token': 'SECRET-TOKEN' } },
        'devnet',
        defaultUpstreamLimits,
      ),
  );
  const sending = new Sending({
    source: scene.pool,
    senders: new Senders(scene.pool, new Map([['devnet', extra]])),
    limits: { ...sendLimits, ...testLimits, ...limits },
    log: createLogger('debug', (line) => (scene.logged as string[]).push(line)),
  });
  const close = async (): Promise<void> => {
    await sending.close();
    await Promise.all([scene.close(), ...senders.map((sender) => sender.close())]);
  };
  return { ...scene, sending, senders, close };
}

/** How often all of them were sent a transaction. */
export const sentIn = (mocks: readonly MockNode[]): number =>
  mocks.reduce((sum, mock) => sum + mock.count('sendTransaction'), 0);

/** What a call comes to, without a promise. */
export function put(source: DirectSource, asked: Call): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const asker: Asker = {
    answered: ({ body, errorCode }) =>
      resolve(errorCode === 0 ? (JSON.parse(String(body)) as string) : String(errorCode)),
    failed: ({ code }) => resolve(code),
  };
  source.put(asked, asker);
  return promise;
}
