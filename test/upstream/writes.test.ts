import { afterEach, describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { behind } from './mock/behind.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { dyingMidBody } from './mock/dying-mid-body.ts';
import { failing } from './mock/failing.ts';
import { failureOf } from './mock/failure-of.ts';
import { healthy } from './mock/healthy.ts';
import { htmlBadGateway } from './mock/html-bad-gateway.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { throttling } from './mock/throttling.ts';
import { truncated } from './mock/truncated.ts';
import { wrongId } from './mock/wrong-id.ts';

/** A signature and a placeholder message: enough for mock nodes. */
const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(120, 3)]);
const signature = encodeBase58(wire.subarray(1, 65));
const accepted = healthy(JSON.stringify(signature));
const base64 = call('sendTransaction', [wire.toString('base64'), { encoding: 'base64' }]);
const base58 = call('sendTransaction', [encodeBase58(wire)]);

const alreadyProcessed = failing(
  -32002,
  'Transaction simulation failed: This transaction has already been processed',
  { err: 'AlreadyProcessed', logs: [] },
);
const blockhashNotFound = failing(-32002, 'Transaction simulation failed: Blockhash not found', {
  err: 'BlockhashNotFound',
  logs: [],
});

let scene: Scene;
afterEach(() => scene.close());

const open = async (
  nodes: readonly (Behaviour | NodeConfig)[],
  limits?: Partial<UpstreamLimits>,
): Promise<Scene> => {
  scene = await stage(nodes, limits);
  return scene;
};

/** Behaviors by the order of calls, whichever node is first. */
async function inOrder(
  first: Behaviour,
  second: Behaviour,
  limits?: Partial<UpstreamLimits>,
): Promise<Scene> {
  let pending = 0;
  const either: Behaviour = (request, reply, socket) =>
    (pending++ === 0 ? first : second)(request, reply, socket);
  return open([either, either], limits);
}

const total = (method: string): number => scene.mocks.reduce((sum, mock) => sum + mock.count(method), 0);

describe('sendTransaction', () => {
  it.each([
    ['drops the connection after the request', dyingAfterRequest],
    ['drops the connection in the middle of the answer', dyingMidBody],
    ['never answers', silent],
    ['is behind', behind],
    ['throttles', throttling('30')],
    ['sends an HTML 502', htmlBadGateway],
    ['sends truncated JSON', truncated],
    ['answers somebody else', wrongId],
    ['does not know the blockhash yet', blockhashNotFound],
  ])('is never lost when the first node %s', async (_name, first) => {
    // Short only for a node that does not respond.
    const attemptTimeoutMs = first === silent ? 800 : 4_000;
    const { pool } = await inOrder(first, accepted, { attemptTimeoutMs });
    expect((await request(pool, base64)).body.toString()).toBe(JSON.stringify(signature));
    expect(total('sendTransaction')).toBe(2);
  });

  it.each([
    ['base64', base64],
    ['base58', base58],
  ])('returns the signature when a lost first attempt had succeeded (%s)', async (_name, send) => {
    const { pool } = await inOrder(dyingAfterRequest, alreadyProcessed);
    const answer = await request(pool, send);
    expect(answer).toMatchObject({ errorCode: 0 });
    expect(answer.body.toString()).toBe(JSON.stringify(signature));
  });

  it('returns "already processed" if only the caller sent it before', async () => {
    const { pool } = await inOrder(behind, alreadyProcessed);
    expect((await request(pool, base64)).errorCode).toBe(-32002);
  });

  it('confirms an unknown blockhash by one other node', async () => {
    const { pool } = await open([blockhashNotFound, blockhashNotFound, blockhashNotFound]);
    expect((await request(pool, base64)).errorCode).toBe(-32002);
    expect(total('sendTransaction')).toBe(2);
  });

  it('does not report a transaction as dead that an earlier node may have accepted', async () => {
    const { pool } = await inOrder(dyingAfterRequest, blockhashNotFound);
    const failure = await failureOf(request(pool, base64));
    expect(failure.facts).toEqual({ network: 'devnet', outcome: 'unknown', signature });
  });

  it('is not retried when malformed', async () => {
    const { pool } = await open([failing(-32602), failing(-32602)]);
    expect((await request(pool, base64)).errorCode).toBe(-32602);
    expect(total('sendTransaction')).toBe(1);
  });

  it('continues when the caller cancels', async () => {
    const leave = new AbortController();
    const { pool } = await inOrder((request, reply, socket) => {
      leave.abort();
      dyingAfterRequest(request, reply, socket);
    }, accepted);
    expect((await request(pool, base64, leave.signal)).errorCode).toBe(0);
    expect(total('sendTransaction')).toBe(2);
  });
});

describe('requestAirdrop', () => {
  const airdrop = call('requestAirdrop', ['11111111111111111111111111111111', 1]);

  it('continues when the caller cancels', async () => {
    const leave = new AbortController();
    const { pool } = await open([
      (request, reply, socket) => {
        leave.abort();
        healthy()(request, reply, socket);
      },
    ]);
    expect((await request(pool, airdrop, leave.signal)).errorCode).toBe(0);
  });

  it.each([
    ['drops the connection after the request', dyingAfterRequest],
    ['drops the connection in the middle of the answer', dyingMidBody],
    ['never answers', silent],
    ['throttles', throttling()],
    ['sends an HTML 502', htmlBadGateway],
    ['sends truncated JSON', truncated],
    ['answers somebody else', wrongId],
  ])('reaches exactly one node once when that node %s', async (_name, behaviour) => {
    const { pool } = await open([behaviour, behaviour], { timeoutMs: 300 });
    await failureOf(request(pool, airdrop));
    expect(total('requestAirdrop')).toBe(1);
  });

  it('reports an unknown outcome once sent', async () => {
    const { pool } = await open([dyingAfterRequest]);
    expect((await failureOf(request(pool, airdrop))).facts).toEqual({
      network: 'devnet',
      outcome: 'unknown',
    });
  });

  it('is never repeated on a kept connection that the node closes', async () => {
    const { pool, mocks } = await open([healthy()]);
    await request(pool, call('getHealth'));
    mocks[0]!.become(dyingAfterRequest);
    await failureOf(request(pool, airdrop));
    expect(total('requestAirdrop')).toBe(1);
  });

  it('moves on from nodes that refuse the connection', async () => {
    const dead = { name: 'dead', url: await deadUrl() };
    const { pool } = await open([dead, healthy('"sig"')]);
    for (let i = 0; i < 8; i++) expect((await request(pool, airdrop)).errorCode).toBe(0);
    expect(total('requestAirdrop')).toBe(8);
  });

  it('returns the error of its node without a second attempt', async () => {
    const { pool } = await open([behind, behind]);
    expect((await request(pool, airdrop)).errorCode).toBe(-32005);
    expect(total('requestAirdrop')).toBe(1);
  });
});

describe('unknown method', () => {
  it('is not repeated once sent', async () => {
    const { pool } = await open([dyingAfterRequest, dyingAfterRequest]);
    await failureOf(request(pool, call('getAsset')));
    expect(total('getAsset')).toBe(1);
  });

  it('is answered by another node if the first refuses the connection', async () => {
    const { pool } = await open([{ name: 'dead', url: await deadUrl() }, healthy('{"id":"x"}')]);
    for (let i = 0; i < 8; i++) expect((await request(pool, call('getAsset'))).errorCode).toBe(0);
  });
});

describe('calls sent while a node is stopped', () => {
  it('fail instead of hanging', async () => {
    const { pool, mocks } = await open([silent], { timeoutMs: 2_000 });
    const pending = failureOf(request(pool, call('getBalance')));
    await until(() => mocks[0]!.received.length > 0);
    await pool.stop();
    expect(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT']).toContain((await pending).code);
  });
});
