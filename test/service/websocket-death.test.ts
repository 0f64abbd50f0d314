import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerPid } from './program.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The embedded ledger is killed under open subscriptions. */
const SOL = 1_000_000_000;
const confirmed = { commitment: 'confirmed' };
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
    await receive(40);
    expect(roots).toEqual(roots.map((_, index) => roots[0]! + index));
  });

  it('does not keep it from later notifications', async () => {
    const account = Keypair.generate().publicKey.toBase58();
    const id = await client.result<number>('accountSubscribe', [account, confirmed]);
    process.kill(ledgerPid(service.dataDir)!, 'SIGKILL');
    await client.next(await client.result<number>('slotSubscribe'));
    const signature = await client.result<string>('requestAirdrop', [account, SOL]);
    expect((await client.next(id)).result).toMatchObject({ value: { lamports: SOL } });
    const known = await client.result<number>('signatureSubscribe', [signature, confirmed]);
    expect((await client.next(known)).result).toMatchObject({ value: { err: null } });
  });
});
