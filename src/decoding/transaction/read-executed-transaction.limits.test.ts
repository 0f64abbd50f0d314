import { describe, expect, it } from 'vitest';
import {
  balance,
  calls,
  inner,
  key,
  type Members,
  OTHER,
  PAYER,
  readOrFail,
  transactionResult,
} from '../../../test/decoding/transactions/node-responses.ts';
import { minimumOf, msOf } from '../../../test/project/minimum-of.ts';
import { type JsonValue, writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import { programs } from '../../solana/programs.ts';
import { parsedTransaction, parseEffects } from './parse-transaction.ts';
import { readExecutedTransaction } from './read-executed-transaction.ts';

const written = (result: JsonValue): string | null => {
  const transaction = readExecutedTransaction(result);
  return transaction && writeJson(parsedTransaction(transaction, parseEffects(transaction), new Map()));
};

describe('large node responses', () => {
  it('are read quickly with tens of thousands of nested instructions', () => {
    const router = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
    const marketplace = 'formn3hJtt8gvVKxpCfzCJGuoz6CNUFcULFZW18iTpC';
    const transfer = (at: number): Members => ({
      ...{ source: key(at & 255), destination: key((at >> 8) & 255), amount: String(at), authority: PAYER },
    });
    const instructions = Array.from({ length: 30_000 }, (_, at): JsonValue => {
      const stackHeight = at % 250;
      if (at % 3 === 0) {
        return { programId: programs.token, stackHeight, parsed: { type: 'transfer', info: transfer(at) } };
      }
      const data = encodeBase58(Uint8Array.of(228, 69, 165, 46, at & 255));
      const accounts = Array.from({ length: 20 }, (__, of) => key(of + 1));
      return { programId: at % 3 === 1 ? router : marketplace, stackHeight, accounts, data };
    });
    const result = transactionResult([calls(router)], {
      innerInstructions: [{ index: 0, instructions }],
      postTokenBalances: [balance(1, '1', 6, PAYER)],
      logMessages: Array.from({ length: 30_000 }, (_, at) => `Program ${router} invoke [${at % 9}]`),
    });
    const tookMs = (): number => msOf(() => expect(written(result)).not.toBeNull());
    expect(minimumOf(2_000, tookMs)).toBeLessThan(2_000);
    const { instructions: read, logs } = readOrFail(result);
    expect([read.length, logs.length]).toEqual([1_000, 5_000]);
  });

  it('are read without data of unknown programs and with bounded data of known programs', () => {
    const long = encodeBase58(new Uint8Array(10_150).fill(65));
    const memos = (programId: Address) => {
      const called = Array.from({ length: 63 }, () => ({ programId, accounts: [PAYER], data: long }));
      const last = { programId: programs.memoV3, accounts: [PAYER], data: encodeBase58(Uint8Array.of(66)) };
      const { instructions } = readOrFail(
        transactionResult([calls(OTHER)], { innerInstructions: [inner(0, ...called, last)] }),
      );
      return instructions.slice(1).map(({ parsed }) => parsed !== null);
    };
    const tookMs = (): number => msOf(() => expect(memos(OTHER)).toEqual([...Array(63).fill(false), true]));
    expect(minimumOf(50, tookMs)).toBeLessThan(50);
    expect(memos(programs.memoV3)).toEqual([...Array(9).fill(true), ...Array(54).fill(false), true]);
  });
});
