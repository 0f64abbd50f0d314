import { expect, it } from 'vitest';
import type { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { QuorumReads } from '../../src/upstream/quorum/quorum-reads.ts';
import { behind, dyingAfterRequest, failing, healthy, refusing, silent } from './mock/behaviors.ts';
import { call, failureOf, outcomeOf, type Scene, stageForEach, until } from './mock/pool.ts';

const stage = stageForEach();

const balance = (value: number, slot: number) =>
  healthy(`{"context":{"apiVersion":"4.${slot}.0","slot":${slot}},"value":${value}}`);

const quorumOn = (
  { pool }: Pick<Scene, 'pool'>,
  options: { nodes?: number; agreementThreshold?: number } = {},
) =>
  new QuorumReads(pool, {
    ...{ pool, methods: ['getBalance', 'getBlock*', 'send*'], nodes: 3, agreementThreshold: 2 },
    limits: { attemptsMax: 24, timeoutMs: 5_000, attemptTimeoutMs: 2_000 },
    ...options,
  });

const getBalance = (
  scene: Scene,
  options?: { nodes?: number; agreementThreshold?: number },
): Promise<string> => outcomeOf(quorumOn(scene, options), call('getBalance'));

it('a quorum read returns what enough nodes agree on, whatever their slots, without waiting for others', async () => {
  const scene = await stage([balance(1, 7), silent, balance(1, 9)]);
  expect(await getBalance(scene)).toContain('"slot":9},"value":1}');
  expect(scene.counts()).toEqual([1, 1, 1]);
  const outvoted = await stage([balance(2, 9), balance(1, 7), balance(1, 8)]);
  expect(await getBalance(outvoted)).toContain('"slot":8},"value":1}');
});

it('a quorum read fails if all responses differ, without trying further nodes', async () => {
  const scene = await stage([balance(1, 9), balance(2, 9), balance(3, 9), balance(1, 9)]);
  const failure: Failure = await failureOf(request(quorumOn(scene), call('getBalance')));
  expect(failure.code).toBe('NODES_DISAGREE');
  expect(failure.attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
  expect(scene.counts()).toEqual([1, 1, 1, 0]);
});

it('a quorum read compares results without a context as a whole, and errors by their code', async () => {
  const blocks = await stage([healthy('{"a":1}'), healthy('{"a":2}'), healthy('{"a":1}')]);
  expect(await outcomeOf(quorumOn(blocks), call('getBlock', [5]))).toBe('{"a":1}');
  const invalid = await stage([failing(-32602, 'one'), failing(-32602, 'other'), balance(1, 9)]);
  expect(await getBalance(invalid)).toBe('-32602');
});

it('a quorum read replaces nodes that cannot serve it', async () => {
  const scene = await stage([dyingAfterRequest, behind, refusing(503), balance(1, 7), balance(1, 8)]);
  expect(await getBalance(scene, { nodes: 2 })).toContain('"value":1}');
  expect(scene.counts()).toEqual([1, 1, 1, 1, 1]);
});

it('a quorum read fails if too few nodes respond, and sends nothing if too few are ready', async () => {
  const scene = await stage([balance(1, 7), dyingAfterRequest, dyingAfterRequest]);
  expect(await getBalance(scene)).toBe('UPSTREAM_UNAVAILABLE');
  expect(await getBalance(await stage([behind, behind, balance(1, 7)]))).toBe('-32005');
  const alone = await stage([balance(1, 7)]);
  expect(await getBalance(alone)).toBe('UPSTREAM_UNAVAILABLE');
  expect(alone.counts()).toEqual([0]);
});

it('a quorum read that is canceled ends its requests', async () => {
  const scene = await stage([silent, silent]);
  const cancel = new AbortController();
  const outcome = outcomeOf(quorumOn(scene), call('getBalance'), cancel.signal);
  await until(() => scene.counts().every((count) => count === 1));
  cancel.abort();
  expect(await outcome).toBe('CLIENT_GONE');
  expect(scene.pool.nodesOf('devnet').map(({ inFlight }) => inFlight)).toEqual([0, 0]);
});

it('only the chosen reads are sent to several nodes, never transactions', async () => {
  const scene = await stage([healthy(), healthy(), healthy()]);
  const quorum = quorumOn(scene);
  for (const method of ['getEpochInfo', 'sendTransaction', 'getBlocksOfSomeProvider'])
    expect(await outcomeOf(quorum, call(method))).toBe('"ok"');
  expect(scene.counts().reduce((sum, count) => sum + count)).toBe(3);
});
