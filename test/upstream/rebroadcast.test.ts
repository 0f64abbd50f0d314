import { describe, expect, it } from 'vitest';
import type { SubmitLimits } from '../../src/upstream/submit/submission.ts';
import { accepting, freshChain, landed, type MockChain, sentTo } from './mock/accepting.ts';
import { until } from './mock/pool.ts';
import type { MockNode } from './mock/server.ts';
import {
  SubmissionTrace,
  type SubmitScene,
  signedTransaction,
  submittersForEach,
} from './mock/submitting.ts';

/** Accepted transactions until their result is known. */
const stage = submittersForEach();
let scene: SubmitScene;
let chain: MockChain;

async function open(limits: Partial<SubmitLimits> = {}): Promise<void> {
  chain = freshChain();
  const node = accepting(chain);
  scene = await stage([node, node], [node], { limits: { rebroadcastIntervalMs: 20, ...limits } });
}

type Sent = Readonly<{ wire: Buffer; signature: string; trace: SubmissionTrace }>;

async function sendOne(config: object = {}): Promise<Sent> {
  const [sent, trace] = [signedTransaction(), new SubmissionTrace()];
  expect(await scene.submit(sent.wire, config, trace)).toBe(sent.signature);
  return { ...sent, trace };
}

const timesSent = ({ wire }: Sent, mock: MockNode): number =>
  mock.received.filter((one) => one.method === 'sendTransaction' && sentTo(one).wire.equals(wire)).length;
const timesToAll = (sent: Sent): number => scene.all.reduce((sum, mock) => sum + timesSent(sent, mock), 0);
const isAtRest = (): boolean => scene.submitter.pending === 0;

describe('accepted transaction', () => {
  it('is rebroadcast until confirmed', async () => {
    await open();
    const sent = await sendOne();
    const other = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(sent, mock) >= 4));
    chain.status = (signature) => (signature === sent.signature ? landed('confirmed') : 'null');
    await until(() => sent.trace.results.length > 0);
    const [result] = sent.trace.results;
    expect(result).toMatchObject({ name: 'confirmed', slot: 1001n, err: null });
    expect(result!.rebroadcasts).toBeGreaterThanOrEqual(3);
    const attempts = result!.rebroadcastAttempts.map(({ node, outcome }) => `${node} ${outcome}`).sort();
    expect(attempts).toEqual(['node-1 ok', 'node-2 ok', 'sender-1 ok']);
    expect(result!.rebroadcastAttempts.every(({ times }) => times >= 2)).toBe(true);
    // Attempts of the submission only.
    expect(sent.trace.attempts).toHaveLength(3);
    // Requests in flight have arrived once another was rebroadcast.
    const again = async (): Promise<void> => {
      const before = timesToAll(other);
      await until(() => timesToAll(other) >= before + 2 * 3);
    };
    await again();
    const before = timesToAll(sent);
    await again();
    expect(timesToAll(sent)).toBe(before);
  });

  it('continues while only one node reports that it landed', async () => {
    chain = freshChain();
    const lying = { ...freshChain(), status: () => landed('finalized') };
    scene = await stage([accepting(lying), accepting(chain)], [], {
      limits: { rebroadcastIntervalMs: 20 },
    });
    const sent = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(sent, mock) >= 6));
    expect(sent.trace.results).toEqual([]);
    chain.status = () => landed('confirmed');
    await until(isAtRest);
    expect(sent.trace.results).toMatchObject([{ name: 'confirmed' }]);
  });

  it('expires when its blockhash does and no node knows it', async () => {
    await open({ rebroadcastIntervalMs: 60_000 });
    const { trace } = await sendOne();
    await until(() => scene.mocks.some((mock) => mock.count('getEpochInfo') > 0));
    chain.isBlockhashValid = false;
    chain.blockHeight += 151;
    await until(isAtRest);
    expect(trace.results).toMatchObject([{ name: 'expired', slot: null }]);
  });

  it('is rebroadcast at most as often as its sender wants', async () => {
    await open();
    const [never, twice, always] = [
      await sendOne({ maxRetries: 0 }),
      await sendOne({ maxRetries: 2 }),
      await sendOne(),
    ];
    await until(() => scene.all.every((mock) => timesSent(always, mock) >= 6));
    expect([timesToAll(never), timesToAll(twice)]).toEqual([3, 9]);
    chain.status = () => landed('confirmed');
    await until(isAtRest);
    expect(never.trace.results).toMatchObject([{ name: 'confirmed', rebroadcasts: 0 }]);
    expect(twice.trace.results).toMatchObject([{ name: 'confirmed', rebroadcasts: 2 }]);
  });

  it('is not rebroadcast while a fork contains it', async () => {
    await open({ rebroadcastIntervalMs: 40 });
    chain.status = (signature) => (signature === sent.signature ? landed('processed') : 'null');
    const sent = { ...signedTransaction(), trace: new SubmissionTrace() };
    await scene.submit(sent.wire, {}, sent.trace);
    const other = await sendOne();
    await until(() => scene.mocks.some((mock) => mock.count('getSignatureStatuses') >= 1));
    const seen = timesToAll(other);
    await until(() => timesToAll(other) >= seen + 3);
    const before = timesToAll(sent);
    await until(() => timesToAll(other) >= seen + 4 * 3);
    expect(timesToAll(sent)).toBe(before);
    chain.status = () => 'null';
    await until(() => timesToAll(sent) > before);
  });

  it('is shed when rebroadcast most often', async () => {
    await open({ pendingMax: 2 });
    const often = await sendOne();
    const never = await sendOne({ maxRetries: 0 });
    await until(() => scene.all.every((mock) => timesSent(often, mock) >= 2));
    const last = await sendOne({ maxRetries: 0 });
    expect(often.trace.results).toMatchObject([{ name: 'shed' }]);
    expect([never.trace.results, last.trace.results, scene.submitter.shed]).toEqual([[], [], 1]);
  });

  it('is not rebroadcast with an invalid signature', async () => {
    await open();
    const forged = signedTransaction();
    forged.wire[forged.wire.length - 1]! ^= 1;
    const trace = new SubmissionTrace();
    await scene.submit(forged.wire, { skipPreflight: true }, trace);
    const good = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(good, mock) >= 3));
    expect(trace.results).toMatchObject([{ name: 'unconfirmed', rebroadcasts: 0 }]);
    expect(scene.all.map((mock) => timesSent({ ...forged, trace }, mock))).toEqual([1, 1, 1]);
    expect(scene.submitter.pending).toBe(1);
  });
});
