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

async function start(): Promise<{ program: Program; door: TestRpcClient }> {
  const program = startProgram([
    ...['localnet', '--ledger', ledger, '--rpc-port', '0', '--slot-ms', '10', '--json'],
  ]);
  running = program;
  const [line] = await program.said(/^\{"event":"ready".*\}$/m);
  const { rpcPort } = JSON.parse(line) as { rpcPort: number };
  return { program, door: createRpcClient(`http://127.0.0.1:${rpcPort}/`, '') };
}

const statusesOf = async (door: TestRpcClient, signatures: readonly string[]): Promise<Status[]> => {
  const config = { searchTransactionHistory: true };
  return (await door.result<{ value: Status[] }>('getSignatureStatuses', [signatures, config])).value;
};

/** Asks for airdrops without end, until the program is gone. */
async function traffic(door: TestRpcClient, sent: string[]): Promise<void> {
  try {
    for (;;) sent.push(await door.result<string>('requestAirdrop', [account, SOL]));
  } catch {
    // It was killed in the middle of a call: nothing was acknowledged.
  }
}

/** Slots of what the program has called finalized, by signature. */
type Told = Map<string, number>;

async function noteFinalized(door: TestRpcClient, sent: readonly string[], told: Told): Promise<void> {
  const unknown = sent.filter((signature) => !told.has(signature)).slice(0, 256);
  for (const [index, status] of (await statusesOf(door, unknown)).entries()) {
    if (status?.confirmationStatus === 'finalized') told.set(unknown[index]!, status.slot);
  }
}

async function expectAllThere(door: TestRpcClient, told: Told): Promise<void> {
  const all = [...told];
  for (let from = 0; from < all.length; from += 256) {
    const page = all.slice(from, from + 256);
    const statuses = await statusesOf(
      door,
      page.map(([signature]) => signature),
    );
    expect(statuses.map((status) => [status?.confirmationStatus, status?.slot, status?.err])).toEqual(
      page.map(([, slot]) => ['finalized', slot, null]),
    );
  }
  const { value } = await door.result<{ value: number }>('getBalance', [account]);
  expect(value).toBeGreaterThanOrEqual(told.size * SOL);
}

it('the program, killed repeatedly under load, loses nothing that it reported as finalized', async () => {
  const told: Told = new Map();
  for (let kill = 0; kill < KILLS; kill++) {
    const { program, door } = await start();
    await expectAllThere(door, told);
    const sent: string[] = [];
    const calling = [traffic(door, sent), traffic(door, sent)];
    const wanted = told.size + FINALIZED_PER_LIFE;
    await eventually(async () => {
      await noteFinalized(door, sent, told);
      return told.size >= wanted;
    }, 'enough is finalized');
    expect(await program.stop('SIGKILL')).toBeNull();
    await Promise.all(calling);
  }
  const { program, door } = await start();
  await expectAllThere(door, told);
  expect(await program.stop()).toBe(0);
});
