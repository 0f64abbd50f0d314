import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  MessageV0,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programs } from '../../../../src/solana/programs.ts';
import { isSimpleVote } from '../../../../src/solana/transaction/simple-vote.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { decoded } from '../../../../test/solana/decoded-transaction.ts';
import { openLocalNode } from '../../src/genesis/open.ts';
import { at, Lab, SOL } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const lastBlock = () => lab.node.history.block(lab.node.bank('processed').slot)!;
/** Without the vote of the node. */
const lastTransactions = () =>
  lastBlock().transactions.filter(({ transaction }) => !isSimpleVote(transaction));

describe('transaction', () => {
  it('that fails pays its fee and is in the block with its error', () => {
    const [from, to] = [lab.wallet(), Keypair.generate()];
    const err = { InstructionError: [0, { Custom: 1 }] };
    const transaction = lab.transfer(from, to.publicKey, 100 * SOL);
    expect(lab.node.submit(transaction)).toEqual(err);
    lab.freeze();
    expect(lab.balance(from.publicKey)).toBe(BigInt(10 * SOL - 5000));
    expect(lastTransactions()[0]!.meta.err).toEqual(err);
    expect(lab.node.recentStatus(transaction.signatures[0]!)).toEqual({ slot: lastBlock().slot, err });
  });

  it('without its program pays the fee only', () => {
    const [from, nowhere] = [lab.wallet(), Keypair.generate().publicKey];
    const call = new TransactionInstruction({ programId: nowhere, keys: [], data: Buffer.alloc(0) });
    expect(lab.run([from], [call])).toBe('ProgramAccountNotFound');
    expect(lab.balance(from.publicKey)).toBe(BigInt(10 * SOL - 5000));
    const walletAsProgram = new TransactionInstruction({
      programId: lab.wallet().publicKey,
      keys: [],
      data: Buffer.alloc(0),
    });
    expect(lab.run([from], [walletAsProgram])).toBe('InvalidProgramForExecution');
  });

  it('leaves no trace when it cannot pay', () => {
    const unfunded = Keypair.generate();
    const transaction = lab.transfer(unfunded, Keypair.generate().publicKey, 1);
    expect(lab.node.submit(transaction)).toBe('AccountNotFound');
    lab.freeze();
    expect(lastTransactions()).toEqual([]);
    expect(lab.node.recentStatus(transaction.signatures[0]!)).toBeNull();
    expect(lab.node.history.locate(transaction.signatures[0]!)).toBeNull();
  });

  it('leaves no trace below the fee or the rent minimum', () => {
    const [from, poor] = [lab.wallet(), Keypair.generate()];
    expect(lab.run([from], [SystemProgram.transfer(pay(from, poor, 890_880))])).toBeNull();
    const memo = lab.transfer(poor, poor.publicKey, 0);
    expect(lab.node.submit(memo)).toEqual({ InsufficientFundsForRent: { account_index: 0 } });
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10_000_000_000 });
    expect(lab.run([poor], [price])).toBe('InsufficientFundsForFee');
    expect(lastTransactions()).toEqual([]);
    expect(lab.balance(poor.publicKey)).toBe(890_880n);
  });

  it('is rejected with an unknown blockhash or one older than 150 blocks', () => {
    const [from, to] = [lab.wallet(), Keypair.generate()];
    const foreign = Keypair.generate().publicKey.toBase58();
    expect(lab.node.submit(lab.transfer(from, to.publicKey, 1, foreign))).toBe('BlockhashNotFound');
    const old = lab.blockhash;
    lab.freeze(150);
    expect(lab.node.bank('processed').isBlockhashValid(old as never)).toBe(true);
    expect(lab.node.submit(lab.transfer(from, to.publicKey, SOL, old))).toBeNull();
    lab.freeze();
    expect(lab.node.bank('processed').isBlockhashValid(old as never)).toBe(false);
    expect(lab.node.submit(lab.transfer(from, to.publicKey, 2, old))).toBe('BlockhashNotFound');
  });

  it('is rejected with an invalid signature', () => {
    const from = lab.wallet();
    const transaction = lab.transfer(from, Keypair.generate().publicKey, SOL);
    const wire = transaction.wire.slice();
    wire[wire.length - 1]! ^= 1;
    const forged = { ...transaction, wire, messageBytes: wire.subarray(65) };
    expect(lab.node.submit(forged)).toBe('SignatureFailure');
  });

  it('is rejected by a full slot and runs in the next', async () => {
    const small = await Lab.open({ blockCostMax: 4000n });
    try {
      const [from, to] = [small.wallet(), Keypair.generate()];
      const [first, second, third] = [1, 2, 3].map((n) => small.transfer(from, to.publicKey, SOL + n));
      expect(small.node.submit(first!)).toBeNull();
      expect(small.node.submit(second!)).toBeNull();
      expect(small.node.submit(third!)).toBe('WouldExceedMaxBlockCostLimit');
      small.freeze();
      expect(small.node.submit(third!)).toBeNull();
    } finally {
      await small.close();
    }
  });

  it('may drain its payer, and an account may be recreated', () => {
    const [from, to] = [lab.wallet(), lab.wallet()];
    expect(lab.run([from], [SystemProgram.transfer(pay(from, to, 10 * SOL - 5000))])).toBeNull();
    expect(lab.node.bank('processed').account(at(from.publicKey))).toBeNull();
    expect(lab.run([to], [SystemProgram.transfer(pay(to, from, SOL))])).toBeNull();
    expect(lab.balance(from.publicKey)).toBe(BigInt(SOL));
  });
});

const pay = (from: Keypair, to: Keypair, lamports: number) => ({
  fromPubkey: from.publicKey,
  toPubkey: to.publicKey,
  lamports,
});

const lastMeta = () => lab.node.history.block(lab.node.bank('processed').slot)!.transactions.at(-1)!.meta;

describe('version 0 transaction', () => {
  it('loads keys from a lookup table and is found by all keys', () => {
    const [payer, target] = [lab.wallet(), Keypair.generate().publicKey];
    lab.freeze();
    const [create, tableKey] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: Number(lab.node.bank('processed').slot),
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: tableKey,
      authority: payer.publicKey,
      payer: payer.publicKey,
      addresses: [target],
    });
    expect(lab.run([payer], [create, extend])).toBeNull();
    const data = lab.node.bank('processed').account(at(tableKey))!.data;
    const table = new AddressLookupTableAccount({
      key: tableKey,
      state: AddressLookupTableAccount.deserialize(data),
    });
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: target, lamports: SOL });
    const transaction = lab.versioned([payer], [pay], [table]);
    expect(transaction.message.accountKeys).not.toContain(at(target));
    expect(lab.node.submit(transaction)).toBeNull();
    lab.freeze();
    expect(lab.balance(target)).toBe(BigInt(SOL));
    expect(lastMeta().loadedAddresses).toEqual({ writable: [at(target)], readonly: [] });
    expect(lastMeta().postBalances).toHaveLength(3);
    const highestSlot = lab.node.bank('processed').slot;
    for (const key of [at(payer.publicKey), at(target)]) {
      const [newest] = lab.node.history.signaturesForAddress(key, { limit: 1, highestSlot });
      expect(newest).toEqual({ signature: transaction.signatures[0], slot: highestSlot, index: 1 });
    }
    const unknown = new AddressLookupTableAccount({ ...table, key: Keypair.generate().publicKey });
    expect(lab.node.submit(lab.versioned([payer], [pay], [unknown]))).toBe('AddressLookupTableNotFound');
    // The same address twice.
    const twice = new MessageV0({
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      staticAccountKeys: [payer.publicKey, SystemProgram.programId],
      recentBlockhash: lab.blockhash,
      compiledInstructions: [],
      addressTableLookups: [{ accountKey: tableKey, writableIndexes: [0, 0], readonlyIndexes: [] }],
    });
    const doubled = new VersionedTransaction(twice);
    doubled.sign([payer]);
    expect(lab.node.submit(decoded(doubled.serialize()))).toBe('AccountLoadedTwice');
  });
});

const memoElf = (): Uint8Array => lab.node.bank('processed').account(programs.memoV3)!.data;

const memo = (program: PublicKey, text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: program, keys: [], data: Buffer.from(text) });

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

  it('survives an account that claims to be a program', async () => {
    const wellFormed = Uint8Array.of(...new Uint8Array(48), ...memoElf());
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
