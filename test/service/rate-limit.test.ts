import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { healthy } from '../upstream/mock/healthy.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** A burst of 5 and 1 call per second, slow enough for a loaded machine. */
let mock: MockNode;
let service: RunningService;
let server: TestRpcClient;

beforeAll(async () => {
  mock = await startMock(healthy());
  service = await startService({
    // Every accepted call must reach the node.
    configuration: `
      [cache]
      enabled = false
      coalesce = false
      slot_cache = false
      [plans.default]
      rpc_per_second = 1
      rpc_burst = 5
      [[upstream]]
      url = "${mock.url}"
    `,
  });
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(async () => {
  await service?.stop();
  await mock?.close();
});

const batch = (size: number): string =>
  JSON.stringify(Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id, method: 'getHealth' })));

const limited = (id: number) => ({
  jsonrpc: '2.0',
  error: {
    code: -32043,
    message: 'Rate limit exceeded: wait as long as Retry-After says',
    data: { code: 'RATE_LIMITED', limit: 5, remaining: 0, windowSeconds: 5, resetSeconds: 1, retryAfter: 1 },
  },
  id,
});

describe('a plan with a burst of 5 calls and 1 call per second', () => {
  it('counts each call of a batch, and forwards no more than allowed', async () => {
    const { status, body } = await server.post(batch(8));
    const answered = [0, 1, 2, 3, 4].map((id) => ({ jsonrpc: '2.0', result: 'ok', id }));
    expect(status).toBe(200);
    expect(body).toEqual([...answered, ...[5, 6, 7].map(limited)]);
    expect(mock.count('getHealth')).toBe(5);
  });

  it('refuses excess calls with retry-after, and accepts them then', async () => {
    const refused = await server.call('getHealth');
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual(limited(1));
    expect(refused.headers.get('ratelimit-policy')).toBe('"rpc";q=5;w=5');
    expect(refused.headers.get('ratelimit')).toBe('"rpc";r=0;t=1');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(mock.count('getHealth')).toBe(5);

    await delay(Number(refused.headers.get('retry-after')) * 1_000);
    const { status, headers } = await server.call('getHealth');
    expect([status, headers.get('retry-after')]).toEqual([200, null]);
    expect(headers.get('ratelimit')).toBe('"rpc";r=0;t=1');
  });

  it('refuses a whole batch at the limit, readable for any page', async () => {
    const { status, headers } = await server.post(batch(3), { origin: 'https://shop.example' });
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe('RateLimit, RateLimit-Policy, Retry-After');
  });
});
