import { setTimeout as delay } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { isRunning, ledgerPid } from './program.ts';
import { createRpcClient, type HttpRpcResponse, type TestRpcClient } from './rpc-client.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The embedded ledger is a separate process that may be killed, though no input makes it crash. */
let service: RunningService;
let server: TestRpcClient;
const payer = Keypair.generate();
const account = payer.publicKey.toBase58();
const SOL = 1_000_000_000;

beforeAll(async () => {
  service = await startService();
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(() => service?.stop());

type Balance = { context: { slot: number }; value: number };

const balance = (commitment: string): Promise<Balance> =>
  server.result('getBalance', [account, { commitment }]);

describe('a crash of the ledger under load', () => {
  const BACK_MAX_MS = 10_000;
  const AFTERWARDS = 200;
  /** Pause of each of the readers. */
  const PAUSE_MS = 10;

  const outcomeOf = ({ status, body }: HttpRpcResponse): string =>
    body.error === undefined ? 'answered' : `${status} ${body.error.code} ${body.error.data?.code ?? ''}`;

  async function load(outcomes: string[], isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      outcomes.push(outcomeOf(await server.call('getBalance', [account])));
      await delay(PAUSE_MS);
    }
  }

  it('does not fail reads, and the ledger restarts with all finalized state', async () => {
    await server.result('requestAirdrop', [account, 2 * SOL]);
    const before = await eventually(async () => {
      const seen = await balance('finalized');
      return seen.value > 0 && seen;
    }, 'the airdrop is finalized');
    const pid = ledgerPid(service.dataDir)!;

    const outcomes: string[] = [];
    let over = false;
    const readers = Array.from({ length: 8 }, () => load(outcomes, () => over));
    const dead = performance.now();
    process.kill(pid, 'SIGKILL');
    await eventually(async () => !isRunning(pid), 'the ledger is dead');
    const answeredAtDeath = outcomes.length;
    await eventually(
      async () =>
        outcomes.slice(answeredAtDeath).filter((outcome) => outcome === 'answered').length > AFTERWARDS,
      'reads succeed again',
      { timeoutMs: BACK_MAX_MS },
    );
    over = true;
    await Promise.all(readers);
    process.stdout.write(`reads were back after ${Math.round(performance.now() - dead)} ms\n`);

    expect(outcomes.filter((outcome) => outcome !== 'answered')).toEqual([]);
    expect(service.process.exitCode).toBeNull();
    expect(ledgerPid(service.dataDir)).not.toBe(pid);
    const after = await balance('finalized');
    expect(after.value).toBe(before.value);
    expect(after.context.slot).toBeGreaterThanOrEqual(before.context.slot);
    expect(service.output()).toContain('Embedded ledger exited; restarting it');
  });

  it('does not affect a subscription: same id, no root lost or repeated', async () => {
    const client = await SocketClient.open(`${service.ready.wsUrl}?api-key=${service.key}`);
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
    await client.close();
  });
});
