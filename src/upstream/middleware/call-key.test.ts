import { describe, expect, it } from 'vitest';
import { callOf } from '../../../test/upstream/mock/scripted-dispatcher.ts';
import { CallKeys, isSameCall } from './call-key.ts';

const keys = new CallKeys();
const keyOf = (method: string, params: string | null) =>
  keys.keyOf({ ...callOf(method), params: params === null ? null : Buffer.from(params) });
const textOf = (method: string, params: string | null): string => keyOf(method, params)!.text;

describe('equal keys', () => {
  it.each([
    ['getSlot', null, '[]'],
    ['getSlot', '[]', '[{"commitment":"finalized"}]'],
    ['getSlot', '[]', '[{}]'],
    ['getSlot', '[]', '[null]'],
    ['getBalance', '["a"]', '["a",{"commitment":"finalized"}]'],
    ['getAccountInfo', '["a",{"encoding":"base64"}]', '["a",{"commitment":"finalized","encoding":"base64"}]'],
    ['getBlock', '[5]', ' [ 5 , { } ] '],
    ['getTokenSupply', '["m"]', '["m",{"commitment":"finalized"}]'],
    ['getTransaction', '["s"]', '["\\u0073"]'],
  ])('%s %s and %s', (method, one, other) => {
    expect(textOf(method, one)).toBe(textOf(method, other));
  });
});

describe('different keys', () => {
  it.each([
    ['letters in different case', 'getBalance', '["a"]', '["A"]'],
    ['a number and its digits as text', 'getBlock', '[5]', '["5"]'],
    ['a number that nodes reject', 'getBlock', '[5]', '[5.0]'],
    ['another commitment', 'getSlot', '[]', '[{"commitment":"confirmed"}]'],
    ['an unknown commitment', 'getSlot', '[]', '[{"commitment":"recent"}]'],
    ['another minimum context slot', 'getSlot', '[]', '[{"minContextSlot":5}]'],
    ['an empty object in place of a commitment', 'getTokenSupply', '["m"]', '["m",{}]'],
    [
      'another option besides the commitment',
      'getTokenSupply',
      '["m",{"x":1}]',
      '["m",{"x":1,"commitment":"finalized"}]',
    ],
    ['a param after the options', 'getSlot', '[]', '[{},1]'],
    ['null in place of a required param', 'getBalance', '[null]', '[]'],
    ['a duplicate name', 'getSlot', '[{"x":1}]', '[{"x":1,"x":1}]'],
    ['text that looks like the end of another', 'getBalance', '["a","b"]', '["a\\",\\"b"]'],
  ])('%s: %s', (_, method, one, other) => {
    expect(textOf(method, one)).not.toBe(textOf(method, other));
  });

  it('depend on the exact bytes if params are nested too deeply', () => {
    const deep = (inside: string): string => `[${'['.repeat(20)}${inside}${']'.repeat(20)}]`;
    expect(textOf('getSlot', deep('1'))).toBe(textOf('getSlot', deep('1')));
    expect(textOf('getSlot', deep('1'))).not.toBe(textOf('getSlot', deep(' 1')));
    expect(keyOf('getSlot', deep('1'))).toMatchObject({ commitment: null });
  });
});

describe('cached keys', () => {
  it('belong to one call and copy its bytes', () => {
    const own = new CallKeys({ multiplier: 16_777_619 });
    const params = Buffer.from('[564258]');
    const key = own.keyOf({ ...callOf('getBalance'), params })!;
    expect(own.keyOf(callOf('getBalance', [1_828_122]))!.text).not.toBe(key.text);
    own.keyOf({ ...callOf('getBalance'), params });
    params.write('[111111]');
    expect(own.keyOf(callOf('getBalance', [564_258]))).toMatchObject({ text: key.text });
  });

  it('differ by network, method, and absent params', () => {
    const call = { ...callOf('getSlot'), params: Buffer.from('[]') };
    const others = [
      { ...call, network: 'testnet' as const },
      { ...call, method: 'getHealth' },
      { ...call, params: null },
    ];
    expect([call, ...others].map((other) => isSameCall(call, other))).toEqual([true, false, false, false]);
  });
});

describe('commitment of a key', () => {
  it.each([
    ['getBalance', '["a"]', 'finalized', 0n],
    ['getBalance', '["a",{"commitment":"processed","minContextSlot":7}]', 'processed', 7n],
    ['getBalance', '["a",{"commitment":"recent"}]', null, 0n],
    ['getBalance', '["a",{"minContextSlot":"7"}]', null, 0n],
    ['getBalance', '["a",{"minContextSlot":null}]', 'finalized', 0n],
    ['getBlock', '[5,"json"]', 'finalized', 0n],
    ['getBlocks', '[5,9]', null, 0n],
    ['getSignatureStatuses', '[[]]', 'processed', 0n],
    ['getBlockTime', '[5]', 'finalized', 0n],
  ])('%s %s: %s, not below %d', (method, params, commitment, minContextSlot) => {
    expect(keyOf(method, params)).toMatchObject({ commitment, minContextSlot });
  });
});
