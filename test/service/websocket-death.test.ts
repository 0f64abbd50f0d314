import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerPid } from './program.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

let service: RunningService;
let client: SocketClient;

beforeAll(async () => {
  service = await startService();
  client = await SocketClient.open(`${service.ready.wsUrl}?api-key=${service.key}`);
});
afterAll(async () => {
  client?.socket.terminate();
  await service?.stop();
});

describe('a ledger killed during a subscription', () => {
  it('leaves it unchanged: same id, no root lost or repeated', async () => {
    const id = await client.result<number>('rootSubscribe');
    const roots: number[] = [];
    const receive = async (wanted: number) => {
      for (let observed = 0; observed < wanted; observed++)
        roots.push((await client.next<number>(id)).result);
    };
    await receive(3);
    process.kill(ledgerPid(service.dataDir)!, 'SIGKILL');
    await receive(5);
    expect(roots).toEqual(roots.map((_, index) => roots[0]! + index));
  });
});
