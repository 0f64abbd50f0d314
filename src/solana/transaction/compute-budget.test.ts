import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { type Address, address, addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import type { Message } from '../message/message.ts';
import { programs } from '../programs.ts';
import { compileMessage, type Instruction } from './compile-message.ts';
import { computeBudgetOf, feeOf, priorityFeeOf } from './compute-budget.ts';
import { memoOf } from './memo.ts';

const feePayer = addressFromBytes(new Uint8Array(32).fill(1));
const someProgram = addressFromBytes(new Uint8Array(32).fill(2));

const messageOf = (...instructions: Instruction[]): Message =>
  compileMessage({ feePayer, instructions, recentBlockhash: blockhashFromBytes(new Uint8Array(32)) });

const call = (programId: Address, data: Uint8Array = new Uint8Array()): Instruction => ({
  programId,
  accounts: [],
  data,
});

const fromOracle = ({ programId, data }: TransactionInstruction): Instruction =>
  call(address(programId.toBase58()), Uint8Array.from(data));

const limit = (units: number) => fromOracle(ComputeBudgetProgram.setComputeUnitLimit({ units }));
const price = (microLamports: bigint) =>
  fromOracle(ComputeBudgetProgram.setComputeUnitPrice({ microLamports }));
const heap = (bytes: number) => fromOracle(ComputeBudgetProgram.requestHeapFrame({ bytes }));
const loadedLimit = (bytes: number) =>
  call(
    programs.computeBudget,
    Uint8Array.of(4, bytes & 255, (bytes >> 8) & 255, (bytes >> 16) & 255, bytes >>> 24),
  );

describe('the compute budget of a message', () => {
  it('is by default 200,000 units for a program and 3,000 for a builtin', () => {
    expect(computeBudgetOf(messageOf(call(someProgram), call(programs.system)))).toEqual({
      unitLimit: 203_000,
      unitPrice: 0n,
      loadedAccountsDataSizeLimit: 64 * 1024 * 1024,
      heapBytes: 32 * 1024,
    });
    expect(computeBudgetOf(messageOf(call(programs.stake)))).toMatchObject({ unitLimit: 200_000 });
  });

  it('counts its own instructions among the builtins', () => {
    expect(computeBudgetOf(messageOf(price(1n), call(someProgram)))).toMatchObject({ unitLimit: 203_000 });
  });

  it('ends at 1,400,000 units, asked for or not', () => {
    expect(computeBudgetOf(messageOf(...Array(8).fill(call(someProgram))))).toMatchObject({
      unitLimit: 1_400_000,
    });
    expect(computeBudgetOf(messageOf(limit(4_000_000_000)))).toMatchObject({ unitLimit: 1_400_000 });
  });

  it('is what the instructions ask for', () => {
    const budget = computeBudgetOf(
      messageOf(limit(7), price(2n ** 64n - 1n), heap(64 * 1024), loadedLimit(9)),
    );
    expect(budget).toEqual({
      unitLimit: 7,
      unitPrice: 2n ** 64n - 1n,
      heapBytes: 64 * 1024,
      loadedAccountsDataSizeLimit: 9,
    });
  });

  it('refuses the same request twice', () => {
    for (const request of [limit(1), price(1n), heap(32 * 1024), loadedLimit(1)]) {
      expect(computeBudgetOf(messageOf(request, call(someProgram), request))).toEqual({
        fault: { DuplicateInstruction: 2 },
      });
    }
  });

  it('refuses data it cannot read and heaps that are not allowed', () => {
    const invalid = (index: number) => ({ fault: { InstructionError: [index, 'InvalidInstructionData'] } });
    for (const data of [[], [0], [5], [2, 0, 0, 0], [3, 0]]) {
      expect(
        computeBudgetOf(messageOf(call(someProgram), call(programs.computeBudget, Uint8Array.from(data)))),
      ).toEqual(invalid(1));
    }
    for (const bytes of [31 * 1024, 32 * 1024 + 1, 257 * 1024]) {
      expect(computeBudgetOf(messageOf(heap(bytes)))).toEqual(invalid(0));
    }
  });

  it('refuses to load nothing', () => {
    expect(computeBudgetOf(messageOf(loadedLimit(0)))).toEqual({
      fault: 'InvalidLoadedAccountsDataSizeLimit',
    });
  });
});

describe('the fee of a message', () => {
  it('is 5,000 lamports for each signature', () => {
    const second = { address: someProgram, signer: true, writable: false };
    expect(feeOf(messageOf(call(programs.system)))).toBe(5_000n);
    expect(feeOf(messageOf({ ...call(programs.system), accounts: [second] }))).toBe(10_000n);
  });

  it('counts the signatures that precompiles verify', () => {
    const message = messageOf(
      call(programs.ed25519, Uint8Array.of(2, 0)),
      call(programs.secp256k1, Uint8Array.of(3)),
      call(programs.secp256r1, Uint8Array.of(4)),
      call(programs.ed25519),
    );
    expect(feeOf(message)).toBe(50_000n);
  });

  it('adds the price of the unit limit, rounded up to a lamport', () => {
    expect(feeOf(messageOf(limit(1), price(1n)))).toBe(5_001n);
    expect(feeOf(messageOf(limit(1_000_000), price(3n)))).toBe(5_003n);
    expect(feeOf(messageOf(limit(0), price(1_000_000n)))).toBe(5_000n);
  });

  it('holds a priority fee within a u64 and gives none for a faulty budget', () => {
    expect(priorityFeeOf(messageOf(limit(1_400_000), price(2n ** 64n - 1n)))).toBe(2n ** 64n - 1n);
    expect(feeOf(messageOf(price(1_000_000n), price(1n)))).toBe(5_000n);
  });
});

describe('the memo of a message', () => {
  const memo = (text: string, program = programs.memoV3) => call(program, new TextEncoder().encode(text));

  it('joins the memos of both programs with their lengths in bytes', () => {
    expect(memoOf(messageOf(memo('hello'), call(someProgram), memo('für', programs.memoV1)))).toBe(
      '[5] hello; [4] für',
    );
    expect(memoOf(messageOf(memo('')))).toBe('[0] ');
    expect(memoOf(messageOf(memo('\uFEFFx')))).toBe('[4] \uFEFFx');
  });

  it('says so when a memo is not UTF-8', () => {
    expect(memoOf(messageOf(call(programs.memoV3, Uint8Array.of(0xff, 0xfe))))).toBe('[2] (unparseable)');
  });

  it('is null without a memo', () => {
    expect(memoOf(messageOf(call(someProgram, new TextEncoder().encode('no'))))).toBeNull();
  });
});
