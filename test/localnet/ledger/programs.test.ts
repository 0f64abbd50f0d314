import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import { programs } from '../../../src/ledger/programs.ts';
import { lamports, U64_MAX } from '../../../src/ledger/units.ts';
import { openLocalNode } from '../../../src/localnet/open.ts';
import { at, Lab } from './lab.ts';

const LOADER = new PublicKey(programs.bpfUpgradeableLoader);

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

/** The code of the memo program, which is small and logs what it is given. */
const memoElf = (): Uint8Array => lab.node.bank('processed').account(programs.memoV3)!.data;

const loaderCall = (data: ByteWriter, keys: [PublicKey, 'w' | 'ws' | 's' | ''][]): TransactionInstruction =>
  new TransactionInstruction({
    programId: LOADER,
    data: Buffer.from(data.finish()),
    keys: keys.map(([pubkey, role]) => ({
      pubkey,
      isSigner: role.includes('s'),
      isWritable: role.includes('w'),
    })),
  });

const make = (payer: Keypair, account: Keypair, space: number): TransactionInstruction =>
  SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: (128 + space) * 6960,
    space,
    programId: LOADER,
  });

/** Writes code into a new buffer, as `solana program deploy` does. */
function fillBuffer(payer: Keypair, elf: Uint8Array): Keypair {
  const buffer = Keypair.generate();
  const init = loaderCall(new ByteWriter().u32(0), [
    [buffer.publicKey, 'w'],
    [payer.publicKey, ''],
  ]);
  expect(lab.run([payer, buffer], [make(payer, buffer, 37 + elf.length), init])).toBeNull();
  for (let offset = 0; offset < elf.length; offset += 900) {
    const chunk = elf.subarray(offset, offset + 900);
    const data = new ByteWriter().u32(1).u32(offset).u64(BigInt(chunk.length)).bytes(chunk);
    const write = loaderCall(data, [
      [buffer.publicKey, 'w'],
      [payer.publicKey, 's'],
    ]);
    expect(lab.run([payer], [write])).toBeNull();
  }
  return buffer;
}

const codeOf = (program: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([program.toBuffer()], LOADER)[0];

function deploy(payer: Keypair, elf: Uint8Array): PublicKey {
  const [program, buffer] = [Keypair.generate(), fillBuffer(payer, elf)];
  const data = new ByteWriter().u32(2).u64(BigInt(elf.length * 2));
  const call = loaderCall(data, [
    [payer.publicKey, 'ws'],
    [codeOf(program.publicKey), 'w'],
    [program.publicKey, 'w'],
    [buffer.publicKey, 'w'],
    [SYSVAR_RENT_PUBKEY, ''],
    [SYSVAR_CLOCK_PUBKEY, ''],
    [SystemProgram.programId, ''],
    [payer.publicKey, 's'],
  ]);
  expect(lab.run([payer, program], [make(payer, program, 36), call])).toBeNull();
  return program.publicKey;
}

const memo = (program: PublicKey, text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: program, keys: [], data: Buffer.from(text) });

const lastLogs = () =>
  lab.node.history.block(lab.node.bank('processed').slot)!.transactions.at(-1)!.meta.logMessages.join('\n');

describe('a program deployed by transactions', () => {
  it('runs, also after a restart, and runs no more once it is closed', async () => {
    const payer = lab.wallet(100);
    const program = deploy(payer, memoElf());
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

  it('does not exist for a simulation on a state before it', () => {
    const payer = lab.wallet(100);
    const before = lab.node.bank('processed');
    const program = deploy(payer, memoElf());
    const call = lab.legacy([payer], [memo(program, 'hello')]);
    const options = { sigVerify: false, replaceRecentBlockhash: true, innerInstructions: false };
    expect(lab.node.simulate(call, lab.node.bank('processed'), options).err).toBeNull();
    expect(lab.node.simulate(call, before, options).err).toBe('ProgramAccountNotFound');
    expect(lab.node.simulate(call, lab.node.bank('processed'), options).err).toBeNull();
  });

  it('made of anything but a program is refused by the loader', () => {
    const payer = lab.wallet(100);
    const buffer = fillBuffer(payer, new Uint8Array(500).fill(7));
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
  it('takes programs and accounts', async () => {
    const [program, account] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    const content = {
      lamports: lamports(123n),
      data: Uint8Array.of(1, 2, 3),
      owner: programs.memoV1,
      executable: false,
      rentEpoch: U64_MAX,
    };
    const own = await Lab.open({
      programs: [[at(program), memoElf()]],
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

  it('refuses a program that cannot be loaded', async () => {
    const program = at(Keypair.generate().publicKey);
    await expect(Lab.open({ programs: [[program, new Uint8Array(64)]] })).rejects.toThrow(/program/i);
  });

  it('survives an account that claims to be a program', async () => {
    const fakes = [
      programs.bpfLoader2,
      programs.loaderV4,
      programs.bpfUpgradeableLoader,
      programs.memoV1,
    ].map(
      (owner) =>
        [
          Keypair.generate().publicKey,
          { lamports: lamports(10n ** 9n), data: new Uint8Array(64), owner, executable: true, rentEpoch: 0n },
        ] as const,
    );
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

it('leaves the directory free when it cannot open', async () => {
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
