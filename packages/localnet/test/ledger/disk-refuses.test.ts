import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Keypair } from '@solana/web3.js';
import { expect, it } from 'vitest';
import type { Signature } from '../../../../src/solana/signature.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { programFile } from '../../../../test/service/program.ts';
import { createRpcClient } from '../../../../test/service/rpc-client.ts';
import { LedgerHaltedError } from '../../src/bank/ledger-state.ts';
import { at, Lab, SOL } from './lab.ts';

/** Largest growing file of the ledger. */
function largest(dir: string): number {
  const files = [...readdirSync(join(dir, 'log')).map((name) => join('log', name)), 'history.db'];
  return Math.max(...files.map((name) => statSync(join(dir, name)).size));
}

it('a disk error ends the program with a message and loses nothing finalized', async () => {
  const lab = await Lab.open();
  await lab.node.stop();
  const { dir } = lab;
  const blocks = Math.ceil(largest(dir) / 512) + 6_000;
  const program = spawn(
    'sh',
    [
      ...['-c', `ulimit -f ${blocks} && exec "$0" "$@"`, process.execPath, programFile],
      ...['localnet', '--ledger', dir, '--rpc-port', '0', '--slot-ms', '10', '--json', '--quiet'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let words = '';
  program.stderr.on('data', (chunk: Buffer) => {
    words += chunk;
  });
  const ended = once(program, 'close').then(([code]) => code as number | null);
  const ready = await once(createInterface({ input: program.stdout }), 'line');
  const finalized = await airdropUntilItEnds(Number(JSON.parse(ready[0] as string).rpcPort));
  expect(await ended).toBe(1);
  expect(words).toMatch(/failed to write .* \(disk I\/O error\)/);
  expect(words).toContain('Finalized data is safe; free disk space and restart');
  expect(finalized.length).toBeGreaterThan(0);

  await lab.reopen();
  const { node } = lab;
  for (const each of finalized) expect(node.history.locate(each as Signature)).toMatchObject({ err: null });
  node.freeze();
  await lab.close();
});

/** Requests airdrops until the ledger ends. @returns finalized signatures. */
async function airdropUntilItEnds(port: number): Promise<string[]> {
  const rpcClient = createRpcClient(`http://127.0.0.1:${port}/`, '');
  const finalized = new Set<string>();
  const open = new Set<string>();
  try {
    for (;;) {
      const to = () => Keypair.generate().publicKey.toBase58();
      // Few until something is finalized, then enough to fill the disk.
      const length = finalized.size === 0 ? 1 : 20;
      const batch = Array.from({ length }, () => rpcClient.result<string>('requestAirdrop', [to(), SOL]));
      for (const each of await Promise.all(batch)) open.add(each);
      const request = [...open].slice(0, 200);
      const { value } = await rpcClient.result<{ value: ({ confirmationStatus: string } | null)[] }>(
        'getSignatureStatuses',
        [request],
      );
      value.forEach((status, index) => {
        if (status?.confirmationStatus !== 'finalized') return;
        open.delete(request[index]!);
        finalized.add(request[index]!);
      });
    }
  } catch {
    return [...finalized];
  }
}

it('a halted ledger rejects transactions and still answers reads', async () => {
  const lab = await Lab.open({ limits: { segmentSlotsMax: 5 } });
  try {
    const wallet = lab.wallet();
    const tip = lab.node.bank('processed').slot;
    const transaction = lab.transfer(wallet, Keypair.generate().publicKey, SOL);
    // The next log segment has no directory.
    rmSync(join(lab.dir, 'log'), { recursive: true });
    expect(() => lab.freeze(10)).toThrow(/ENOENT/);
    expect(lab.node.failure).toMatchObject({ code: 'ENOENT' });
    const halted = [
      () => lab.node.submit(transaction),
      () => lab.node.send(transaction),
      () => lab.node.airdrop(at(wallet.publicKey), lamports(1n)),
      () => lab.node.freeze(),
    ];
    for (const each of halted) expect(each).toThrow(LedgerHaltedError);
    expect(lab.node.bank('processed').slot).toBeGreaterThan(tip);
    expect(lab.balance(wallet.publicKey)).toBe(BigInt(10 * SOL));
  } finally {
    await lab.close();
  }
});
