import { ComputeBudgetProgram, Keypair, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, Lab, SOL } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const lastBlock = () => lab.node.history.block(lab.node.bank('processed').slot)!;

describe('transaction', () => {
  it('that fails pays and is in the block with its error', () => {
    const [from, to] = [lab.wallet(), Keypair.generate()];
    const err = { InstructionError: [0, { Custom: 1 }] };
    const transaction = lab.transfer(from, to.publicKey, 100 * SOL);
    expect(lab.node.submit(transaction)).toEqual(err);
    lab.freeze();
    expect(lab.balance(from.publicKey)).toBe(BigInt(10 * SOL - 5000));
    expect(lastBlock().transactions[0]!.meta.err).toEqual(err);
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
    const nobody = Keypair.generate();
    const transaction = lab.transfer(nobody, Keypair.generate().publicKey, 1);
    expect(lab.node.submit(transaction)).toBe('AccountNotFound');
    lab.freeze();
    expect(lastBlock().transactions).toEqual([]);
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
    expect(lastBlock().transactions).toEqual([]);
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
