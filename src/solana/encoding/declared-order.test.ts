import { describe, expect, it } from 'vitest';
import { Float64, writeJson } from '../../base/json.ts';
import { inWireOrder } from '../parsed/wire-order.ts';
import { accountOrder, blockOrder, inDeclaredOrder, transactionWithMetaOrder } from './declared-order.ts';

describe('declared order', () => {
  it('orders present members at every level', () => {
    const account = { data: { parsed: { b: 1, a: 2 }, program: 'p', space: 3 }, lamports: 4n, space: 3 };
    expect(writeJson(inDeclaredOrder(account, accountOrder))).toBe(
      '{"lamports":4,"data":{"program":"p","parsed":{"b":1,"a":2},"space":3},"space":3}',
    );
  });

  it('applies to list elements and leaves other values unchanged', () => {
    const amount = { amount: '1', decimals: 0, uiAmount: new Float64(1), uiAmountString: '1' };
    const transaction = {
      meta: {
        innerInstructions: [{ index: 0, instructions: [{ accounts: [1], data: 'x', programIdIndex: 2 }] }],
        postTokenBalances: [{ accountIndex: 1, mint: 'm', uiTokenAmount: amount }],
        rewards: null,
      },
      transaction: ['AQ==', 'base64'],
    };
    expect(writeJson(inDeclaredOrder(transaction, transactionWithMetaOrder))).toBe(
      '{"transaction":["AQ==","base64"],"meta":{' +
        '"innerInstructions":[{"index":0,"instructions":[{"programIdIndex":2,"accounts":[1],"data":"x"}]}],' +
        '"postTokenBalances":[{"accountIndex":1,"mint":"m",' +
        '"uiTokenAmount":{"uiAmount":1.0,"decimals":0,"amount":"1","uiAmountString":"1"}}],"rewards":null}}',
    );
  });

  it('keeps unknown members', () => {
    const block = {
      unknown: 1,
      blockhash: 'h',
      transactions: [{ version: 0, meta: { new: [{}] } }],
      blockTime: null,
    };
    expect(inWireOrder(inDeclaredOrder(block, blockOrder))).toEqual(inWireOrder(block));
  });
});
