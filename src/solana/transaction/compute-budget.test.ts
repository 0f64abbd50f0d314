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

describe('compute budget', () => {
  it('defaults to 200,000 units per program and 3,000 per builtin', () => {
    expect(computeBudgetOf(messageOf(call(someProgram), call(programs.system)))).toEqual({
      unitLimit: 203_000,
      priorityFee: 0n,
      loadedAccountsDataSizeLimit: 64 * 1024 * 1024,
      heapBytes: 32 * 1024,
    });
    expect(computeBudgetOf(messageOf(call(programs.stake)))).toMatchObject({ unitLimit: 200_000 });
  });

  it('counts its own instructions as builtins', () => {
    expect(computeBudgetOf(messageOf(price(1n), call(someProgram)))).toMatchObject({ unitLimit: 203_000 });
  });

  it('is at most 1,400,000 units', () => {
    expect(computeBudgetOf(messageOf(...Array(8).fill(call(someProgram))))).toMatchObject({
      unitLimit: 1_400_000,
    });
    expect(computeBudgetOf(messageOf(limit(4_000_000_000)))).toMatchObject({ unitLimit: 1_400_000 });
  });

  it('follows the instructions', () => {
    const budget = computeBudgetOf(
      messageOf(limit(7), price(2n ** 64n - 1n), heap(64 * 1024), loadedLimit(9)),
    );
    expect(budget).toEqual({
      unitLimit: 7,
      priorityFee: (7n * (2n ** 64n - 1n) + 999_999n) / 1_000_000n,
      heapBytes: 64 * 1024,
      loadedAccountsDataSizeLimit: 9,
    });
  });

  it('rejects duplicate requests', () => {
    for (const request of [limit(1), price(1n), heap(32 * 1024), loadedLimit(1)]) {
      expect(computeBudgetOf(messageOf(request, call(someProgram), request))).toEqual({
        fault: { DuplicateInstruction: 2 },
      });
    }
  });

  it('rejects invalid data and heap sizes', () => {
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

  it('rejects a loaded data size of zero', () => {
    expect(computeBudgetOf(messageOf(loadedLimit(0)))).toEqual({
      fault: 'InvalidLoadedAccountsDataSizeLimit',
    });
  });
});

describe('fee', () => {
  it('is 5,000 lamports per signature', () => {
    const second = { address: someProgram, signer: true, writable: false };
    expect(feeOf(messageOf(call(programs.system)))).toBe(5_000n);
    expect(feeOf(messageOf({ ...call(programs.system), accounts: [second] }))).toBe(10_000n);
  });

  it('includes signatures verified by precompiles', () => {
    const message = messageOf(
      call(programs.ed25519, Uint8Array.of(2, 0)),
      call(programs.secp256k1, Uint8Array.of(3)),
      call(programs.secp256r1, Uint8Array.of(4)),
      call(programs.ed25519),
    );
    expect(feeOf(message)).toBe(50_000n);
  });

  it('adds the unit price, rounded up to a lamport', () => {
    expect(feeOf(messageOf(limit(1), price(1n)))).toBe(5_001n);
    expect(feeOf(messageOf(limit(1_000_000), price(3n)))).toBe(5_003n);
    expect(feeOf(messageOf(limit(0), price(1_000_000n)))).toBe(5_000n);
  });

  it('caps the priority fee at a u64 and is without it for a faulty budget', () => {
    expect(priorityFeeOf(messageOf(limit(1_400_000), price(2n ** 64n - 1n)))).toBe(2n ** 64n - 1n);
    expect(feeOf(messageOf(price(1_000_000n), price(1n)))).toBe(5_000n);
  });
});

describe('memo text', () => {
  const memo = (text: string, program = programs.memoV3) => call(program, new TextEncoder().encode(text));

  it('joins memos of both programs with their byte lengths', () => {
    expect(memoOf(messageOf(memo('hello'), call(someProgram), memo('für', programs.memoV1)))).toBe(
      '[5] hello; [4] für',
    );
    expect(memoOf(messageOf(memo('')))).toBe('[0] ');
    expect(memoOf(messageOf(memo('\uFEFFx')))).toBe('[4] \uFEFFx');
  });

  it('reports a memo that is not UTF-8', () => {
    expect(memoOf(messageOf(call(programs.memoV3, Uint8Array.of(0xff, 0xfe))))).toBe('[2] (unparseable)');
  });

  it('is null without memo', () => {
    expect(memoOf(messageOf(call(someProgram, new TextEncoder().encode('no'))))).toBeNull();
  });
});
