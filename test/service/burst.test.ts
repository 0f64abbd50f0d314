import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** Burst of the default plan. */
const BURST = 2_000;

let service: RunningService;
let server: TestRpcClient;
beforeAll(async () => {
  service = await startService();
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(() => service?.stop());

describe('a burst of the size that the default plan allows', () => {
  it('is answered completely', async () => {
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: BURST }, () => server.call('getLatestBlockhash')));
    process.stdout.write(`${BURST} calls at once took ${Math.round(performance.now() - startedAt)} ms\n`);
    const refused = answers.filter(({ body }) => body.result === undefined).map(({ text }) => text);
    expect(refused).toEqual([]);
  });
});
