import { Keypair } from '@solana/web3.js';
import { afterAll, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { type Program, startProgram, temporaryFolder } from './program.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';

const KILLS = 4;
const FINALIZED_PER_LIFE = 40;
const SOL = 1_000_000_000;
const ledger = `${temporaryFolder('localnet-kill')}/ledger`;
const account = Keypair.generate().publicKey.toBase58();
let running: Program | null = null;
afterAll(() => running?.stop('SIGKILL'));

type Status = { slot: number; confirmationStatus: string; err: unknown } | null;

async function start(): Promise<{ program: Program; server: TestRpcClient }> {
  const program = startProgram([
    ...['localnet', '--ledger', ledger, '--rpc-port', '0', '--slot-ms', '10', '--json'],
  ]);
  running = program;
  const [line] = await program.said(/^\{"event":"ready".*\}$/m);
  const { rpcPort } = JSON.parse(line) as { rpcPort: number };
  return { program, server: createRpcClient(`http://127.0.0.1:${rpcPort}/`, '') };
}

const statusesOf = async (server: TestRpcClient, signatures: readonly string[]): Promise<Status[]> => {
  const config = { searchTransactionHistory: true };
  return (await server.result<{ value: Status[] }>('getSignatureStatuses', [signatures, config])).value;
};

/** Requests airdrops until the program is gone. */
async function traffic(server: TestRpcClient, sent: string[]): Promise<void> {
  try {
    for (;;) sent.push(await server.result<string>('requestAirdrop', [account, SOL]));
  } catch {
    // Killed during a call: nothing was acknowledged.
  }
}

/** Finalized slots by signature. */
type Observed = Map<string, number>;

async function noteFinalized(
  server: TestRpcClient,
  sent: readonly string[],
  observed: Observed,
): Promise<void> {
  const unknown = sent.filter((signature) => !observed.has(signature)).slice(0, 256);
  for (const [index, status] of (await statusesOf(server, unknown)).entries()) {
    if (status?.confirmationStatus === 'finalized') observed.set(unknown[index]!, status.slot);
  }
}

async function expectAllThere(server: TestRpcClient, observed: Observed): Promise<void> {
  const all = [...observed];
  for (let from = 0; from < all.length; from += 256) {
    const page = all.slice(from, from + 256);
    const statuses = await statusesOf(
      server,
      page.map(([signature]) => signature),
    );
    expect(statuses.map((status) => [status?.confirmationStatus, status?.slot, status?.err])).toEqual(
      page.map(([, slot]) => ['finalized', slot, null]),
    );
  }
  const { value } = await server.result<{ value: number }>('getBalance', [account]);
  expect(value).toBeGreaterThanOrEqual(observed.size * SOL);
}

it('the program, killed repeatedly under load, loses nothing that it reported as finalized', async () => {
  const observed: Observed = new Map();
  for (let kill = 0; kill < KILLS; kill++) {
    const { program, server } = await start();
    await expectAllThere(server, observed);
    const sent: string[] = [];
    const calling = [traffic(server, sent), traffic(server, sent)];
    const wanted = observed.size + FINALIZED_PER_LIFE;
    await eventually(async () => {
      await noteFinalized(server, sent, observed);
      return observed.size >= wanted;
    }, 'enough is finalized');
    expect(await program.stop('SIGKILL')).toBeNull();
    await Promise.all(calling);
  }
  const { program, server } = await start();
  await expectAllThere(server, observed);
  expect(await program.stop()).toBe(0);
});
