import { afterEach, describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { behind } from './mock/behind.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { dyingMidBody } from './mock/dying-mid-body.ts';
import { empty } from './mock/empty.ts';
import { failing } from './mock/failing.ts';
import { failureOf } from './mock/failure-of.ts';
import { healthy } from './mock/healthy.ts';
import { htmlBadGateway } from './mock/html-bad-gateway.ts';
import { noId } from './mock/no-id.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { type Behaviour, send, sendError } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { throttling } from './mock/throttling.ts';
import { truncated } from './mock/truncated.ts';
import { wrongId } from './mock/wrong-id.ts';

const BIG = '{"context":{"slot":7},"value":18446744073709551615}';
let scene: Scene;
afterEach(() => scene.close());

const open = async (
  nodes: readonly (Behaviour | NodeConfig)[],
  limits?: Partial<UpstreamLimits>,
): Promise<Scene> => {
  scene = await stage(nodes, limits);
  return scene;
};

describe('read', () => {
  it.each([
    ['drops the connection after the request', dyingAfterRequest],
    ['drops the connection in the middle of the answer', dyingMidBody],
    ['is behind (-32005)', behind],
    ['has no history (-32011)', failing(-32011)],
    ['does not know the method (-32601)', failing(-32601)],
    ['is throttling without Retry-After', throttling()],
    ['is throttling with Retry-After', throttling('30')],
    ['is throttling in JSON-RPC (-32429)', failing(-32429, 'rate limited')],
    ['never answers', silent],
    ['sends truncated JSON', truncated],
    ['answers somebody else', wrongId],
    ['answers nobody', noId],
    ['sends an HTML 502', htmlBadGateway],
    ['sends nothing', empty],
  ])('always succeeds when one of two nodes %s', async (_name, behaviour) => {
    // Short only for a node that does not respond.
    const attemptTimeoutMs = behaviour === silent ? 500 : 4_000;
    const { pool } = await open([behaviour, healthy(BIG)], { attemptTimeoutMs });
    for (let i = 0; i < 12; i++) {
      const answer = await request(pool, call('getBalance', ['11111111111111111111111111111111']));
      expect(answer.body.toString()).toBe(BIG);
      expect(answer.errorCode).toBe(0);
    }
  });

  it('always succeeds when one of two nodes is dead', async () => {
    const { pool } = await open([{ name: 'dead', url: await deadUrl() }, healthy(BIG)]);
    for (let i = 0; i < 12; i++) {
      expect((await request(pool, call('getBalance'))).body.toString()).toBe(BIG);
    }
  });

  it('succeeds when all but one node fail in different ways', async () => {
    const { pool } = await open([dyingAfterRequest, behind, throttling('30'), truncated, healthy(BIG)]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => request(pool, call('getBalance'))));
    expect(answers.map((answer) => answer.body.toString())).toEqual(Array(20).fill(BIG));
  });

  it('is retried at the only node after a broken connection', async () => {
    let first = true;
    const { pool, mocks } = await open([
      (request, reply, socket) => {
        if (first) dyingAfterRequest(request, reply, socket);
        else healthy(BIG)(request, reply, socket);
        first = false;
      },
    ]);
    expect((await request(pool, call('getBalance'))).body.toString()).toBe(BIG);
    expect(mocks[0]!.count('getBalance')).toBe(2);
  });

  it('waits for the only node during a short throttling', async () => {
    const { pool, mocks } = await open([throttling()]);
    const pending = request(pool, call('getBalance'));
    mocks[0]!.become((request, reply, socket) => {
      if (mocks[0]!.count('getBalance') < 2) throttling()(request, reply, socket);
      else healthy(BIG)(request, reply, socket);
    });
    expect((await pending).body.toString()).toBe(BIG);
  });

  it('respects Retry-After and reports it to the caller', async () => {
    const { pool, mocks } = await open([throttling('20')]);
    await failureOf(request(pool, call('getBalance')));
    const failure = await failureOf(request(pool, call('getBalance')));
    expect(failure.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(failure.retryAfter).toBe(20);
    expect(mocks[0]!.received).toHaveLength(1);
  });

  it('passes params on byte for byte', async () => {
    const { pool, mocks } = await open([healthy()]);
    const params = '[ "é\\u0041", 18446744073709551615 ,1.0e2]';
    await request(pool, { ...call('getBalance'), params: Buffer.from(params) });
    await request(pool, { ...call('getHealth'), params: null });
    const [first, second] = mocks[0]!.received;
    expect(first!.raw).toBe(`{"jsonrpc":"2.0","id":${first!.id},"method":"getBalance","params":${params}}`);
    expect(second!.raw).toBe(`{"jsonrpc":"2.0","id":${second!.id},"method":"getHealth"}`);
  });
});

describe('request to a node', () => {
  it('contains path, query and headers of the node', async () => {
    const { mocks } = await open([healthy()]);
    const url = mocks[0]!.url.replace('http://', 'http://user:p%40ss@');
    const keyed = await stage([
      { name: 'keyed', url: `${url}v2/key?token=t%20t`, headers: { 'x-token': 'secret' } },
    ]);
    await request(keyed.pool, call('getBalance'));
    expect(mocks[0]!.received[0]).toMatchObject({
      path: '/v2/key?token=t%20t',
      headers: {
        'x-token': 'secret',
        authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
        'content-type': 'application/json',
      },
    });
    await keyed.close();
  });

  it('closes its connection on timeout', async () => {
    let closed = false;
    const { pool } = await open(
      [
        (_request, _reply, socket) => {
          socket.on('close', () => {
            closed = true;
          });
        },
      ],
      { timeoutMs: 60, attemptsMax: 1 },
    );
    await failureOf(request(pool, call('getBalance')));
    await until(() => closed);
  });

  it('is not sent if canceled in the queue', async () => {
    const { pool, mocks } = await open([silent], { connectionsMax: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const one = failureOf(request(pool, call('getBalance'), first.signal));
    const two = failureOf(request(pool, call('getAsset'), second.signal));
    await until(() => mocks[0]!.received.length === 1);
    second.abort();
    expect(await two).toMatchObject({ code: 'CLIENT_GONE', facts: { network: 'devnet' } });
    expect((await two).facts).not.toHaveProperty('outcome');
    mocks[0]!.become(healthy());
    first.abort();
    await one;
    await request(pool, call('getHealth'));
    expect(mocks[0]!.received.map(({ method }) => method)).toEqual(['getBalance', 'getHealth']);
  });
});

describe('error of a node', () => {
  it("is returned at once if it is the caller's fault", async () => {
    const { pool, mocks } = await open([failing(-32602, 'Invalid param: WrongSize'), failing(-32602, 'x')]);
    const answer = await request(pool, call('getBalance'));
    expect(answer.errorCode).toBe(-32602);
    expect(mocks.map((mock) => mock.received.length).sort()).toEqual([0, 1]);
  });

  it('is returned unchanged if every node gives it', async () => {
    const { pool } = await open([behind, behind]);
    const answer = await request(pool, call('getBalance'));
    expect(answer.errorCode).toBe(-32005);
    expect(answer.body.toString()).toBe(
      '{"code":-32005,"message":"Node is behind by 150 slots","data":{"numSlotsBehind":150}}',
    );
  });

  it('about the request wins over errors about nodes', async () => {
    const { pool } = await open([behind, failing(-32016, 'm', { contextSlot: 9 }), failing(-32601)]);
    expect((await request(pool, call('getBalance'))).errorCode).toBe(-32016);
  });

  it('about a missing slot is confirmed once', async () => {
    const { pool, mocks } = await open([failing(-32007), failing(-32007), failing(-32007)]);
    expect((await request(pool, call('getBlock', [5]))).errorCode).toBe(-32007);
    expect(mocks.reduce((sum, mock) => sum + mock.received.length, 0)).toBe(2);
  });

  it('about a missing slot yields to a node with the slot', async () => {
    const { pool } = await open([failing(-32001), healthy('{"blockhash":"x"}')]);
    for (let i = 0; i < 6; i++) expect((await request(pool, call('getBlock', [5]))).errorCode).toBe(0);
  });

  it('with a bad HTTP status is accepted if it is a standard error', async () => {
    const { pool } = await open([
      ({ id }, reply) =>
        send(reply, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"},"id":${id}}`, 400),
    ]);
    expect((await request(pool, call('getBalance'))).errorCode).toBe(-32602);
  });

  it('without an id for an unreadable request does not count against the node', async () => {
    const { pool } = await open([
      (_request, reply) =>
        send(reply, '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}'),
    ]);
    for (let i = 0; i < 8; i++) {
      expect((await request(pool, call('getBalance', ['\\ud800']))).errorCode).toBe(-32700);
    }
    expect(pool.status()[0]!.failuresInRow).toBe(0);
  });
});

describe('failure', () => {
  it('names the network that is not served', async () => {
    const { pool } = await open([healthy()]);
    const failure = await failureOf(request(pool, { ...call('getSlot'), network: 'testnet' }));
    expect(failure.code).toBe('NETWORK_NOT_SERVED');
    expect(failure.facts).toEqual({ network: 'testnet', served: 'devnet' });
  });

  it('contains nothing that nodes sent and nothing of their URLs', async () => {
    const limits = { attemptsMax: 4 };
    const { pool, mocks, logged } = await open([htmlBadGateway, throttling('1')], limits);
    const secret = 'c0ffee00-secret-key';
    const url = `${mocks[0]!.url}v2/${secret}?api_key=${secret}`;
    const keyed = await stage([{ name: 'keyed', url, headers: { 'x-token': secret } }], limits);
    for (const one of [pool, keyed.pool]) {
      const failure = await failureOf(request(one, call('getBalance')));
      const { message, code, facts } = failure;
      expect(JSON.stringify({ message, code, facts })).not.toMatch(
        /127\.0\.0\.1|provider|Bad Gateway|c0ffee/,
      );
      expect(String(failure.cause)).toMatch(/(node-\d|keyed): HTTP status (429|502)/);
      expect(String(failure.cause)).not.toMatch(/127\.0\.0\.1|provider|c0ffee/);
    }
    expect(logged.join() + keyed.logged.join()).not.toContain(secret);
    await keyed.close();
  });

  it('replaces an error that contains the key of the node', async () => {
    const secret = 'c0ffee00-secret-key';
    const { mocks } = await open([
      ({ id }, reply) => sendError(reply, id, -32602, `upgrade at https://provider.example/${secret}`),
    ]);
    // The default number of attempts takes nearly the whole timeout.
    const limits = { attemptsMax: 4 };
    const keyed = await stage([{ name: 'keyed', url: `${mocks[0]!.url}${secret}/` }], limits);
    expect((await failureOf(request(keyed.pool, call('getBalance')))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(keyed.pool.status()[0]!.failuresInRow).toBe(0);
    await keyed.close();
  });

  it('reports a timeout when nodes do not respond', async () => {
    const { pool, mocks } = await open([silent, silent], { attemptTimeoutMs: 100, timeoutMs: 1_200 });
    const failure = await failureOf(request(pool, call('getBalance')));
    expect(failure.code).toBe('UPSTREAM_TIMEOUT');
    expect(mocks.every((mock) => mock.received.length >= 1)).toBe(true);
  });

  it('reports a too large response without another attempt', async () => {
    const large = healthy(JSON.stringify('x'.repeat(5_000)));
    const { pool, mocks } = await open([large, large], { responseMaxBytes: 1_000 });
    const failure = await failureOf(request(pool, call('getProgramAccounts')));
    expect(failure.code).toBe('ANSWER_TOO_LARGE');
    expect(mocks.map((mock) => mock.received.length).sort()).toEqual([0, 1]);
  });

  it('reports overload', async () => {
    const { pool } = await open([silent], { inFlightMax: 3, timeoutMs: 300 });
    const waiting = Array.from({ length: 3 }, () => failureOf(request(pool, call('getBalance'))));
    expect((await failureOf(request(pool, call('getBalance')))).code).toBe('OVERLOADED');
    await Promise.all(waiting);
  });

  it('ends the work when the caller cancels', async () => {
    const { pool, mocks } = await open([silent], { attemptTimeoutMs: 10_000, timeoutMs: 10_000 });
    const leave = new AbortController();
    const pending = failureOf(request(pool, call('getBalance'), leave.signal));
    mocks[0]!.become(() => leave.abort());
    await pending;
    expect(pool.status()[0]!.inFlight).toBe(0);
  });

  it('occurs at the deadline, however many attempts are left', async () => {
    const { pool, mocks } = await open([silent, silent, silent, silent], {
      attemptTimeoutMs: 150,
      timeoutMs: 200,
    });
    const startedAt = performance.now();
    expect((await failureOf(request(pool, call('getBalance')))).code).toBe('UPSTREAM_TIMEOUT');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(mocks.reduce((sum, mock) => sum + mock.received.length, 0)).toBeLessThanOrEqual(2);
  });

  it('does not interrupt a scan longer than an attempt of other methods', async () => {
    const slow: Behaviour = (request, reply, socket) => {
      setTimeout(() => healthy('[]')(request, reply, socket), 250);
    };
    const { pool, mocks } = await open([slow], { attemptTimeoutMs: 100 });
    expect((await request(pool, call('getProgramAccounts'))).body.toString()).toBe('[]');
    expect(mocks[0]!.received).toHaveLength(1);
  });

  it('limits the attempts', async () => {
    const { pool, mocks } = await open([dyingAfterRequest], { attemptsMax: 3 });
    await failureOf(request(pool, call('getBalance')));
    expect(mocks[0]!.count('getBalance')).toBe(3);
  });
});
