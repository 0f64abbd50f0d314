import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Address, address, addressBytes } from '../../src/solana/address.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { encodeMessage } from '../../src/solana/message/message.ts';
import { programs, sysvars } from '../../src/solana/programs.ts';
import { compileMessage } from '../../src/solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { sanitizeTransaction } from '../../src/solana/transaction/sanitize-transaction.ts';
import { createRandom, mutate } from '../fuzz/engine/mutate.ts';
import { decodeTransactionTarget } from '../fuzz/targets/transactions.ts';
import type { VmReport, VmTask } from './vm-child.ts';

const WANTED = 6_000;
const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const other = address('Mutat1on11111111111111111111111111111111111');

/** Call of each program with plausible accounts and data. */
function callOf(programId: Address, instruction: number): Uint8Array {
  const message = compileMessage({
    feePayer: payer.address,
    recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(9)),
    instructions: [
      {
        programId,
        accounts: [
          { address: payer.address, signer: true, writable: true },
          { address: other, signer: false, writable: true },
          { address: sysvars.rent, signer: false, writable: false },
          { address: programs.system, signer: false, writable: false },
        ],
        data: Uint8Array.of(instruction, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9),
      },
    ],
  });
  return encodeTransaction([new Uint8Array(64)], encodeMessage(message));
}

const seeds = [
  ...decodeTransactionTarget.seeds,
  ...Object.values(programs).flatMap((program) =>
    [0, 1, 2, 3, 8, 20].map((number) => callOf(program, number)),
  ),
];

function startVm(): ChildProcess {
  return fork(join(import.meta.dirname, 'vm-child.ts'), {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** VM results, or 'died' when the process crashed. */
async function runInVm(wires: readonly Uint8Array[]): Promise<VmReport | 'died'> {
  const child = startVm();
  child.send({ payer: addressBytes(payer.address), wires } satisfies VmTask);
  const reported = once(child, 'message').then(([report]) => report as VmReport);
  const died = once(child, 'exit').then(() => 'died' as const);
  const outcome = await Promise.race([reported, died]);
  if (outcome !== 'died') {
    child.kill('SIGKILL');
    await died;
  }
  return outcome;
}

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

describe('strict decoder in front of the VM', () => {
  it('passes nothing that crashes the VM', async () => {
    const { wires, insane, rejected } = acceptedMutations();
    expect(insane).toBeGreaterThan(100);
    expect(rejected).toBeGreaterThan(1_000);
    const report = await runInVm(wires);
    expect(report).toMatchObject({ ran: WANTED });
    // Hundreds reach the programs.
    expect(report === 'died' ? 0 : report.invoked).toBeGreaterThan(500);
  });

  it('is necessary: one undecodable transaction crashes the VM', async () => {
    const cut = (seeds[0] ?? new Uint8Array()).subarray(0, 100);
    expect('fault' in decodeTransaction(cut)).toBe(true);
    expect(await runInVm([cut])).toBe('died');
  });
});
