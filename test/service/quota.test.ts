import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** A service whose first key has 6 credits per month. Its calls go to both nodes. */
let mocks: MockNode[] = [];
let service: RunningService;
let server: TestRpcClient;
let secret = '';

beforeAll(async () => {
  mocks = await Promise.all([startMock(healthy()), startMock(healthy())]);
  service = await startService({
    // Caching and coalescing are off, so that every accepted call reaches the node.
    configuration: `
      [cache]
      enabled = false
      coalesce = false
      slot_cache = false
      [plans.default]
      rpc_per_second = 500
      rpc_burst = 1500
      monthly_credits = 6
      prices = { getHealth = 2 }
      [quorum]
      methods = ["getHealth"]
      nodes = 2
      ${mocks.map(({ url }) => `[[upstream]]\nurl = "${url}"\n`).join('')}
    `,
  });
  secret = service.key;
  server = createRpcClient(service.ready.rpcUrl, secret);
});
afterAll(async () => {
  await service?.stop();
  await Promise.all(mocks.map((mock) => mock.close()));
});

describe('a quota of 6 credits', () => {
  it("is reported, charged at the plan's prices, and rejects calls and closes connections when used up", async () => {
    const socket = await SocketClient.open(service.ready.wsUrl, { authorization: `Bearer ${secret}` });
    const first = await server.call('getHealth');
    expect(first.headers.get('ratelimit-policy')).toMatch(/^"rpc";q=1500;w=3, "credits";q=6;w=2\d{6}$/);
    expect(first.headers.get('ratelimit')).toMatch(/, "credits";r=4;t=\d+$/);
    await server.call('getHealth');
    expect((await server.call('getHealth')).status).toBe(200);
    const refused = await server.call('getHealth');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('ratelimit')).toMatch(/^"credits";r=0;t=\d+$/);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(refused.body).toMatchObject({
      error: { code: -32087, data: { code: 'QUOTA_EXCEEDED', limit: 6, used: 6, retryAfter } },
    });
    const ended = await socket.ended;
    expect(ended.code).toBe(1008);
    expect(ended.reason).toMatch(/^QUOTA_EXCEEDED: Monthly credit limit reached/);
    const rejected = SocketClient.open(service.ready.wsUrl, { authorization: `Bearer ${secret}` });
    await expect(rejected).rejects.toThrow('429');
    expect(mocks.map((mock) => mock.count('getHealth'))).toEqual([3, 3]);
  });
});
