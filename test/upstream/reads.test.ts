import { describe, expect, it } from 'vitest';
import type { CallAttempt } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import {
  deadUrl,
  dyingAfterRequest,
  healthy,
  htmlBadGateway,
  inSequence,
  onMethod,
  refusing,
  silent,
  slow,
  throttling,
} from './mock/behaviors.ts';
import { call, closeAfterEach, failureOf, type Scene, stageForEach, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, sendError, startMock } from './mock/server.ts';

const stage = stageForEach();
const closing = closeAfterEach();
const failed = ({ pool }: Scene, method = 'getBalance') => failureOf(request(pool, call(method)));

describe('failure of a read', () => {
  it('occurs at the deadline, even if attempts are left', async () => {
    const { send, counts } = await stage(Array(4).fill(silent), { attemptTimeoutMs: 150, timeoutMs: 200 });
    const startedAt = performance.now();
    expect(await send()).toBe('UPSTREAM_TIMEOUT');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(counts().reduce((sum, count) => sum + count)).toBeLessThanOrEqual(2);
  });

  it('occurs after the maximum number of attempts', async () => {
    const scene = await stage([dyingAfterRequest], { attemptsMax: 3 });
    await failed(scene);
    expect(scene.counts()).toEqual([3]);
  });
});

describe('failed read without a trace', () => {
  const behind: Behaviour = ({ id }, reply) => sendError(reply, id, -32_005, 'Node is behind');
  const rejecting: Behaviour = ({ id }, reply) => sendError(reply, id, -32_602, 'Invalid param');

  it('reports its attempts with the error of the node', async () => {
    const { pool } = await stage(Array(2).fill(inSequence(behind, rejecting)));
    const { errorCode, attempts = [] } = await request(pool, call('getBalance'));
    expect(errorCode).toBe(-32_602);
    expect(attempts.map(({ outcome }) => outcome)).toEqual([
      'JSON-RPC error -32005',
      'JSON-RPC error -32602',
    ]);
    expect(new Set(attempts.map(({ node }) => node)).size).toBe(2);
    expect(attempts.every(({ startedAt, endedAt }) => startedAt <= endedAt)).toBe(true);
  });

  it('reports its last attempts with the failure', async () => {
    const { attempts } = await failed(await stage([dyingAfterRequest], { attemptsMax: 20 }));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(16).fill('connection lost'));
  });
});

describe('write whose caller cancels', () => {
  const signature = JSON.stringify('5'.repeat(88));
  const wire = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 7), Buffer.alloc(120, 3)]).toString(
    'base64',
  );

  it.each([
    ['sendTransaction', [wire, { encoding: 'base64' }], dyingAfterRequest, healthy(signature), 2],
    ['requestAirdrop', ['1'.repeat(32), 1], healthy(signature), silent, 1],
  ] as const)('is completed: %s', async (method, params, first, second, requests) => {
    const leave = new AbortController();
    const leaving: Behaviour = (...given) => {
      leave.abort();
      first(...given);
    };
    const { send, counts } = await stage(Array(2).fill(inSequence(leaving, second)));
    expect(await send(method, params, leave.signal)).toBe(signature);
    expect(counts().reduce((sum, count) => sum + count)).toBe(requests);
  });
});

describe('request to a node', () => {
  it('is not sent if canceled in the queue', async () => {
    const { pool, mocks, send } = await stage([silent], { connectionsMax: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const one = send('getBalance', [], first.signal);
    const two = failureOf(request(pool, call('getAsset'), second.signal));
    await until(() => mocks[0]!.received.length === 1);
    second.abort();
    expect(await two).toMatchObject({ code: 'CLIENT_GONE', facts: { network: 'devnet' } });
    expect((await two).facts).not.toHaveProperty('outcome');
    mocks[0]!.become(healthy());
    first.abort();
    await one;
    await send('getHealth');
    expect(mocks[0]!.received.map(({ method }) => method)).toEqual(['getBalance', 'getHealth']);
  });
});

describe('failure', () => {
  const secret = 'c0ffee00-secret-key';
  // The default number of attempts would take nearly the whole timeout.
  const limits = { attemptsMax: 4 };

  it('contains no text sent by nodes and no part of their URLs', async () => {
    const scene = await stage([htmlBadGateway, throttling('1')], limits);
    const url = `${scene.mocks[0]!.url}v2/${secret}?api_key=${secret}`;
    const keyed = await stage([{ name: 'keyed', url, headers: { 'x-token': secret } }], limits);
    for (const one of [scene, keyed]) {
      const { message, code, facts, cause } = await failed(one);
      const text = JSON.stringify({ message, code, facts });
      expect(text).not.toMatch(/127\.0\.0\.1|provider|Bad Gateway|c0ffee/);
      expect(String(cause)).toMatch(/(node-\d|keyed): HTTP status (429|502)/);
      expect(String(cause)).not.toMatch(/127\.0\.0\.1|provider|c0ffee/);
      expect(one.logged.join()).not.toContain(secret);
    }
  });

  it('replaces an error that contains the API key of the node', async () => {
    const { mocks } = await stage([
      ({ id }, reply) => sendError(reply, id, -32602, `upgrade at https://provider.example/${secret}`),
    ]);
    const { pool, send } = await stage([{ name: 'keyed', url: `${mocks[0]!.url}${secret}/` }], limits);
    expect(await send()).toBe('UPSTREAM_UNAVAILABLE');
    expect(pool.status()[0]!.failuresInRow).toBe(0);
  });

  it('contains Retry-After, unless a retry could do harm', async () => {
    const scene = await stage([dyingAfterRequest], limits);
    expect(await failed(scene)).toMatchObject({ retryAfter: 1 });
    const airdrop = await failed(scene, 'requestAirdrop');
    expect(airdrop.facts).toMatchObject({ outcome: 'unknown' });
    expect(airdrop.retryAfter).toBeUndefined();
  });
});

describe('response above the size limit', () => {
  /** Announces a huge response except to polls. */
  const boasting = onMethod('getBalance', (_request, reply) => {
    reply.writeHead(200, { 'content-length': '999999999' }).write('{');
  });

  it('is retried on another node, and counts against its node if the other response is smaller', async () => {
    const { pool, send, states } = await stage([boasting, boasting, healthy('7')]);
    pool.start();
    while (states()[0] !== 'failing') expect(await send()).toBe('7');
  });
});

describe('call while the only node accepts no connections', () => {
  const dead = async () => ({ name: 'dead', url: await deadUrl() });

  it.each(['getBalance', 'sendTransaction'])(
    'waits until the node does, since nothing was sent: %s',
    async (method) => {
      const node = await dead();
      const { send } = await stage([node], { reconnectMaxMs: 5_000, circuitFailuresMax: 1 });
      const pending = send(method);
      const returned = await new Promise<MockNode>((resolve, reject) =>
        setTimeout(() => startMock(healthy('7'), Number(new URL(node.url).port)).then(resolve, reject), 400),
      );
      closing(returned);
      expect(await pending).toBe('7');
      expect(returned.count(method)).toBe(1);
    },
  );
});

it('a response that exceeds the memory budget is rejected and does not count against its node', async () => {
  const half: Behaviour = ({ id }, reply) => {
    const body = `{"jsonrpc":"2.0","result":"${'a'.repeat(150_000)}","id":${id}}`;
    reply.writeHead(200, { 'content-length': body.length }).write(body.slice(0, 120_000));
  };
  const limits = { responseMaxBytes: 200_000, responseBufferMaxBytes: 200_000 };
  const { pool, send } = await stage([half, half], limits);
  expect(await Promise.race([send('getBalance'), send('getBlock', [1])])).toBe('OVERLOADED');
  expect(pool.status().map(({ failuresInRow }) => failuresInRow)).toEqual([0, 0]);
});

describe('request rejected by a node', () => {
  const tooLarge = refusing(413);
  const badRequest = refusing(400);

  it.each([
    ['too large', tooLarge],
    ['malformed', badRequest],
  ])('because it is %s is retried on another node', async (_name, rejecting) => {
    const { sendMany, counts } = await stage([rejecting, rejecting, healthy('7')]);
    expect(await sendMany(10, 'simulateTransaction')).toEqual(Array(10).fill('7'));
    expect(Math.max(...counts())).toBe(10);
  });

  it.each([
    ['too large', 'BODY_TOO_LARGE', tooLarge],
    ['malformed', 'INVALID_REQUEST', badRequest],
  ])(
    "because it is %s fails as the caller's error (%s) if all nodes reject it, after one attempt each",
    async (_name, code, rejecting) => {
      const { send, counts } = await stage([rejecting, rejecting, rejecting]);
      expect(await send('sendTransaction')).toBe(code);
      expect(counts()).toEqual([1, 1, 1]);
    },
  );

  it('does not count as a failure of the node', async () => {
    const { pool, sendMany } = await stage([tooLarge], { circuitFailuresMax: 1 });
    await sendMany(3);
    expect(pool.status()[0]).toMatchObject({ failuresInRow: 0, state: 'unknown' });
  });
});

const open = (
  behaviours: readonly Behaviour[],
  limits: Partial<UpstreamLimits> = {},
  nodes = 2,
): Promise<Scene> => {
  const quick = { hedgeMinMs: 30, hedgeMaxMs: 30, attemptTimeoutMs: 4_000 };
  return stage(Array(nodes).fill(inSequence(...behaviours)), { ...quick, ...limits });
};

const total = ({ counts }: Scene): number => counts().reduce((sum, count) => sum + count);

describe('hedged read', () => {
  it('is answered by the second node and both attempts are traced', async () => {
    const { pool } = await open([silent, healthy('2')]);
    const attempts: CallAttempt[] = [];
    const trace = { onAttempt: (attempt: CallAttempt) => void attempts.push(attempt) };
    const answer = await request(pool, { ...call('getBalance'), trace });
    expect(answer.body.toString()).toBe('2');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'superseded by another node']);
    expect(new Set(attempts.map(({ node }) => node)).size).toBe(2);
    const [late, quick] = pool.status().toSorted((a, b) => a.hedges - b.hedges);
    expect([late!.hedges, quick!.hedges]).toEqual([0, 1]);
    expect(pool.status().map(({ inFlight, failuresInRow }) => [inFlight, failuresInRow])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(late!.latencyMs).toBeGreaterThan(25);
  });

  it.each<[string, string, unknown[], string, Behaviour[]]>([
    [
      'by a non-null result rather than an earlier null',
      'getTransaction',
      ['x'],
      '1',
      [slow(150, healthy('1')), healthy('null')],
    ],
    [
      'with null if the other attempt fails',
      'getTransaction',
      ['x'],
      'null',
      [slow(100, dyingAfterRequest), healthy('null')],
    ],
  ])('is answered %s', async (_name, method, params, expected, behaviours) => {
    const scene = await open(behaviours);
    expect(await scene.send(method, params)).toBe(expected);
    expect(total(scene)).toBe(2);
  });
});
