import { join } from 'node:path';
import { expect, it } from 'vitest';
import { signatureBytes, signatureFromBytes } from '../../../../src/solana/signature.ts';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { runUntilKilled } from '../../../../test/service/run-until-killed.ts';
import { type OpenLocalNode, openLocalNode } from '../../src/genesis/open.ts';

const KILLS = 3;
const dir = temporaryFolder('kill');

type Notification = Map<number, readonly string[]>;

/** Runs the ledger until it wrote this many lines. @returns the slot at which it resumed. */
async function runAndKill(received: Notification, lineCount: number): Promise<number> {
  const lines = await runUntilKilled(join(import.meta.dirname, 'kill-child.ts'), [dir], lineCount);
  for (const line of lines.slice(1)) {
    const [slot, ...rest] = line.split(' ');
    received.set(Number(slot), rest);
  }
  return Number(lines[0]?.slice('ready '.length));
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
    const { transactionCount, slot } = node.bank('processed');
    // Each block from slot 2 on has a vote.
    transactions = Number(transactionCount - slot + 1n);
    // Each airdrop cost the faucet 1 SOL and 5000 lamports.
    expect(faucet).toBe(1_000_000_000_000_000n - BigInt(transactions) * 1_000_005_000n);
    await node.stop();
  }
  expect(transactions).toBeGreaterThan(100);
});
