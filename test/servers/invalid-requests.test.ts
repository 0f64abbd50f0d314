import { afterEach, describe, expect, it } from 'vitest';
import type { PlanLimits } from '../../src/gateway/auth/key-record.ts';
import type { UsageRow } from '../../src/gateway/metering/usage-meter.ts';
import { startHttpServer, type TestHttpServer } from './start-http-server.ts';
import { TestWebSocketServer } from './start-websocket-server.ts';

/** Allows one request; the next is allowed after 100 seconds, longer than a test runs. */
const once: Partial<PlanLimits> = { rpcPerSecond: 0.01, rpcBurst: 1 };
/** One credit, which the first call spends. */
const oneCredit: Partial<PlanLimits> = { rpcPerSecond: 0, monthlyCredits: 1, quotaIsHard: true };

const call = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
const faulty = '{"jsonrpc":"2.0","id":7}';
const notification = '{"jsonrpc":"2.0","method":"getSlot"}';
const overlong = JSON.stringify(Array.from({ length: 101 }, () => ({})));
const copies = (text: string, count: number): string => `[${Array.from({ length: count }, () => text)}]`;

/** Invalid messages with their error codes; null if there is no response. */
const invalid: [string, string, number | null][] = [
  ['invalid JSON', '{bad', -32700],
  ['an invalid call', faulty, -32600],
  ['a batch of too many calls', overlong, -32045],
  ['a notification', notification, null],
  ['an empty batch', '[]', null],
];

const rows = (drained: readonly UsageRow[]) =>
  drained.map(({ method, status, requests, bytesIn, credits }) => ({
    ...{ method, status, requests, bytesIn, credits },
  }));
const counted = (text: string, status: 'ok' | 'client' | 'limited', requests = 1) => ({
  ...{ method: 'other', status, requests, bytesIn: requests * text.length, credits: 0 },
});

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});

describe.each([{ raw: true }, { raw: false }])('invalid requests, fast path: $raw', ({ raw }) => {
  async function start(): Promise<TestHttpServer> {
    const server = await startHttpServer({ raw });
    open.push(server);
    return server;
  }

  const errorOf = (text: string) => (text === '' ? null : JSON.parse(text).error);

  it.each(invalid)('count against the rate limit and are recorded once: %s', async (_, text, code) => {
    const server = await start();
    const key = server.createKey('rpc', once);
    const first = await server.post(text, key);
    expect([first.status, errorOf(await first.text())?.code ?? null]).toEqual([200, code]);
    expect(first.headers.get('ratelimit')).toMatch(/^"rpc";r=0;t=\d+$/);
    expect(first.headers.get('ratelimit-policy')).toBe('"rpc";q=1;w=100');
    expect(rows(server.usage.drain())).toEqual([counted(text, code === null ? 'ok' : 'client')]);

    const second = await server.post(text, key);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '100']);
    expect(errorOf(await second.text())).toMatchObject({ code: -32043, data: { code: 'RATE_LIMITED' } });
    expect(second.headers.get('ratelimit')).toMatch(/^"rpc";r=0;t=\d+$/);
    expect(rows(server.usage.drain())).toEqual([counted(text, 'limited')]);
  });

  it('count once per call of a batch', async () => {
    const server = await start();
    const response = await server.post(copies(faulty, 100), server.createKey('rpc', once));
    const answers = (await response.json()) as { id: number; error: { code: number } }[];
    expect(answers.map(({ error }) => error.code)).toEqual([-32600, ...Array(99).fill(-32043)]);
    expect(answers.every(({ id }) => id === 7)).toBe(true);
    expect(rows(server.usage.drain())).toEqual([counted(faulty, 'client'), counted(faulty, 'limited', 99)]);
  });

  it('get no response as notifications in a batch, unless all are rejected', async () => {
    const server = await start();
    const key = server.createKey('rpc', once);
    const first = await server.post(copies(notification, 3), key);
    expect([first.status, await first.text()]).toEqual([200, '']);
    const second = await server.post(copies(notification, 3), key);
    expect([second.status, errorOf(await second.text()).code]).toEqual([429, -32043]);
  });

  it.each(invalid)('are rejected when the quota is exhausted: %s', async (_, text) => {
    const server = await start();
    const key = server.createKey('rpc', oneCredit);
    await server.post(call, key);
    const refused = await server.post(text, key);
    expect(refused.status).toBe(429);
    expect(errorOf(await refused.text())).toMatchObject({ data: { code: 'QUOTA_EXCEEDED' } });
  });

  it('do not count if there is no memory for the body', async () => {
    const server = await startHttpServer({ raw }, { bodiesMaxBytes: 10 });
    open.push(server);
    const key = server.createKey('rpc', once);
    for (let time = 0; time < 2; time++) {
      const refused = await server.post(call, key);
      expect([refused.status, refused.headers.get('ratelimit')]).toEqual([503, null]);
      expect(await refused.text()).toContain('OVERLOADED');
    }
    expect(server.usage.drain().map(({ status, requests }) => [status, requests])).toEqual([['capacity', 2]]);
  });

  it('count if the body is too large to read', async () => {
    const server = await start();
    const key = server.createKey('rpc', once);
    const long = ' '.repeat(5 * 1024 * 1024);
    expect((await server.post(long, key)).status).toBe(413);
    expect((await server.post(long, key)).status).toBe(429);
    const statuses = server.usage.drain().map(({ method, status }) => [method, status]);
    expect(statuses).toEqual([
      ['other', 'client'],
      ['other', 'limited'],
    ]);
  });
});

describe('invalid requests on a WebSocket', () => {
  async function start(limits: Partial<PlanLimits>) {
    const server = await new TestWebSocketServer().listen();
    open.push(server);
    const client = await server.connect(server.createKey(limits));
    server.usage.drain();
    return { server, client };
  }

  it.each(invalid)('count against the rate limit and are recorded once: %s', async (_, text, code) => {
    // The handshake uses one of the burst.
    const { server, client } = await start({ ...once, rpcBurst: 2 });
    client.socket.send(text);
    client.socket.send(text);
    await client.settle();
    expect(rows(server.usage.drain())).toEqual([
      counted(text, code === null ? 'ok' : 'client'),
      counted(text, 'limited'),
    ]);
    const codes = client.received.map((received) => JSON.parse(received).error.code);
    const refusals = text === notification ? [] : [-32043];
    expect(codes).toEqual(code === null ? refusals : [code, ...refusals]);
  });
});
