import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signatureBytes, signatureFromBytes } from '../../../../src/solana/signature.ts';
import { type OpenLocalNode, openLocalNode } from '../../src/genesis/open.ts';

const KILLS = 3;
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'solway-kill-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Notification = Map<number, readonly string[]>;

async function runAndKill(received: Notification, linesWanted: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'kill-child.ts'), dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let resumedAt = -1;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout! })) {
    const [slot, ...rest] = line.split(' ');
    if (slot === 'ready') resumedAt = Number(rest[0]);
    else received.set(Number(slot), rest);
    if (++lines === linesWanted) child.kill('SIGKILL');
  }
  await exited;
  return resumedAt;
}

function expectAllThere(node: OpenLocalNode, received: Notification): void {
  for (const [slot, [blockhash, ...signatures]] of received) {
    const block = node.history.block(BigInt(slot) as never)!;
    expect(block.blockhash).toBe(blockhash);
    expect(block.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual(signatures);
    for (const [index, signature] of signatures.entries()) {
      const known = signatureFromBytes(signatureBytes(signature as never));
      expect(node.history.locate(known)).toMatchObject({ slot: BigInt(slot), index });
    }
  }
}

it('a repeatedly killed ledger resumes at its finalized slot and loses nothing finalized', async () => {
  const received: Notification = new Map();
  let transactions = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const resumedAt = await runAndKill(received, 20 + 17 * kill);
    const highest = Math.max(...received.keys());
    expect(resumedAt).toBeLessThan(highest);
    const node = await openLocalNode({ ledgerDir: dir, manual: true });
    expect(node.bank('finalized').slot).toBeGreaterThanOrEqual(BigInt(highest));
    expectAllThere(node, received);
    const faucet = node.bank('processed').account(node.genesis.faucet)!.lamports;
    transactions = Number(node.bank('processed').transactionCount);
    // Each airdrop cost the faucet 1 SOL and 5000 lamports.
    expect(faucet).toBe(1_000_000_000_000_000n - BigInt(transactions) * 1_000_005_000n);
    await node.stop();
  }
  expect(transactions).toBeGreaterThan(100);
});
