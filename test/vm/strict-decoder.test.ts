import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeTransaction } from '../../src/ledger/transaction/decode-transaction.ts';
import { sanitizeTransaction } from '../../src/ledger/transaction/sanitize-transaction.ts';
import { seeds } from '../fuzz/decode-transaction.ts';
import { createRandom, mutate } from '../fuzz/engine/mutate.ts';

const WANTED = 6_000;

function startVm(): ChildProcess {
  return fork(join(import.meta.dirname, 'vm-child.ts'), {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** How many transactions the VM ran, or 'died' with its process. */
async function runInVm(wires: readonly Uint8Array[]): Promise<number | 'died'> {
  const child = startVm();
  child.send(wires);
  const ran = once(child, 'message').then(([count]) => count as number);
  const died = once(child, 'exit').then(() => 'died' as const);
  const outcome = await Promise.race([ran, died]);
  if (outcome !== 'died') {
    child.kill('SIGKILL');
    await died;
  }
  return outcome;
}

/** Mutated transactions that the decoder accepts, sane or not. */
function acceptedMutations(): { wires: Uint8Array[]; insane: number; rejected: number } {
  const random = createRandom(20_260);
  const wires: Uint8Array[] = [];
  let [insane, rejected] = [0, 0];
  while (wires.length < WANTED) {
    const wire = mutate(seeds[random() % seeds.length] ?? new Uint8Array(), random);
    const decoded = decodeTransaction(wire);
    if ('fault' in decoded) {
      rejected++;
      continue;
    }
    if (sanitizeTransaction(decoded.transaction) !== null) insane++;
    wires.push(wire);
  }
  return { wires, insane, rejected };
}

describe('the strict decoder in front of the VM', () => {
  it('lets nothing through that takes the VM down', async () => {
    const { wires, insane, rejected } = acceptedMutations();
    expect(insane).toBeGreaterThan(100);
    expect(rejected).toBeGreaterThan(1_000);
    expect(await runInVm(wires)).toBe(WANTED);
  });

  it('stands there for a reason: one undecodable transaction takes the VM down', async () => {
    const cut = (seeds[0] ?? new Uint8Array()).subarray(0, 100);
    expect('fault' in decodeTransaction(cut)).toBe(true);
    expect(await runInVm([cut])).toBe('died');
  });
});
