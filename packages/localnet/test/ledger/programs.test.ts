import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { openLocalNode } from '../../src/genesis/open.ts';
import { codeOf, deploy, fillBuffer, loaderCall, make, memoElf } from './deploy.ts';
import { at, Lab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const memo = (program: PublicKey, text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: program, keys: [], data: Buffer.from(text) });

const lastLogs = () =>
  lab.node.history.block(lab.node.bank('processed').slot)!.transactions.at(-1)!.meta.logMessages!.join('\n');

describe('deployed program', () => {
  it('runs, also after a restart, until it is closed', async () => {
    const payer = lab.wallet(100);
    const program = deploy(lab, payer, memoElf(lab));
    expect(lab.node.bank('processed').account(at(program))?.executable).toBe(true);
    expect(lab.run([payer], [memo(program, 'hello')])).toBeNull();
    expect(lastLogs()).toContain('hello');
    await lab.reopen();
    expect(lab.run([payer], [memo(program, 'again')])).toBeNull();

    const close = loaderCall(new ByteWriter().u32(5), [
      [codeOf(program), 'w'],
      [payer.publicKey, 'w'],
      [payer.publicKey, 's'],
      [program, 'w'],
    ]);
    expect(lab.run([payer], [close])).toBeNull();
    expect(lab.node.bank('processed').account(at(codeOf(program)))).toBeNull();
    expect(lab.run([payer], [memo(program, 'gone')])).not.toBeNull();
    await lab.reopen();
    expect(lab.run([payer], [memo(program, 'still gone')])).not.toBeNull();
    expect(lab.run([payer], [memo(new PublicKey(programs.memoV3), 'the ledger lives')])).toBeNull();
  });

  it('does not exist for a simulation on an earlier state', () => {
    const payer = lab.wallet(100);
    const before = lab.node.bank('processed');
    const program = deploy(lab, payer, memoElf(lab));
    const call = lab.legacy([payer], [memo(program, 'hello')]);
    const options = { sigVerify: false, replaceRecentBlockhash: true, innerInstructions: false };
    expect(lab.node.simulate(call, lab.node.bank('processed'), options).err).toBeNull();
    expect(lab.node.simulate(call, before, options).err).toBe('ProgramAccountNotFound');
    expect(lab.node.simulate(call, lab.node.bank('processed'), options).err).toBeNull();
  });

  it('is rejected by the loader when invalid', () => {
    const payer = lab.wallet(100);
    const buffer = fillBuffer(lab, payer, new Uint8Array(500).fill(7));
    const program = Keypair.generate();
    const call = loaderCall(new ByteWriter().u32(2).u64(1000n), [
      [payer.publicKey, 'ws'],
      [codeOf(program.publicKey), 'w'],
      [program.publicKey, 'w'],
      [buffer.publicKey, 'w'],
      [SYSVAR_RENT_PUBKEY, ''],
      [SYSVAR_CLOCK_PUBKEY, ''],
      [SystemProgram.programId, ''],
      [payer.publicKey, 's'],
    ]);
    const err = lab.run([payer, program], [make(payer, program, 36), call]);
    expect(err).toEqual({ InstructionError: [1, 'InvalidAccountData'] });
  });
});

describe('genesis', () => {
  it('includes programs and accounts', async () => {
    const [program, account] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    const content = {
      lamports: lamports(123n),
      data: Uint8Array.of(1, 2, 3),
      owner: programs.memoV1,
      executable: false,
      rentEpoch: U64_MAX,
    };
    const own = await Lab.open({
      programs: [[at(program), memoElf(lab)]],
      accounts: [[at(account), content]],
      faucetSol: 5n,
    });
    try {
      expect(own.node.bank('finalized').account(at(account))).toEqual(content);
      expect(own.balance(new PublicKey(own.node.genesis.faucet))).toBe(5_000_000_000n);
      expect(own.run([own.wallet(1)], [memo(program, 'from genesis')])).toBeNull();
      await own.reopen();
      expect(own.run([own.wallet(1)], [memo(program, 'from disk')])).toBeNull();
    } finally {
      await own.close();
    }
  });

  it('survives an account that claims to be a program', async () => {
    const wellFormed = Uint8Array.of(...new Uint8Array(48), ...memoElf(lab));
    const owners = [programs.bpfLoader2, programs.loaderV4, programs.bpfUpgradeableLoader, programs.memoV1];
    const fakes = owners.map((owner) => {
      const data = owner === programs.loaderV4 ? wellFormed : new Uint8Array(64);
      const account = { lamports: lamports(10n ** 9n), data, owner, executable: true, rentEpoch: 0n };
      return [Keypair.generate().publicKey, account] as const;
    });
    const own = await Lab.open({ accounts: fakes.map(([key, account]) => [at(key), account] as const) });
    try {
      const payer = own.wallet();
      for (const [key] of fakes)
        expect(own.run([payer], [memo(key, 'x')])).toBe('InvalidProgramForExecution');
      expect(own.run([payer], [memo(new PublicKey(programs.memoV3), 'x')])).toBeNull();
    } finally {
      await own.close();
    }
  });
});

it('releases the directory when opening fails', async () => {
  const program = at(Keypair.generate().publicKey);
  const other = await Lab.open();
  await other.node.stop();
  const bad = openLocalNode({
    ledgerDir: other.dir,
    manual: true,
    reset: true,
    programs: [[program, new Uint8Array(9)]],
  });
  await expect(bad).rejects.toThrow();
  other.node = await openLocalNode({ ledgerDir: other.dir, manual: true });
  await other.close();
});
