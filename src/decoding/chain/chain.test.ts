import { describe, expect, it } from 'vitest';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import { Failure } from '../../protocol/errors.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { programs, sysvars } from '../../solana/programs.ts';
import { Chain, MemoizedChain } from './chain.ts';

const KNOWN = { lamports: 1, owner: programs.system, executable: false, rentEpoch: 0, data: ['', 'base64'] };
const ADDRESSES = [programs.vote, programs.stake];

function chainOf(value: JsonValue): Chain {
  const caller: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: async () => ({ value }),
  };
  return new Chain('mainnet-beta', caller);
}

describe('Chain.accounts', () => {
  it('returns existing accounts by address', async () => {
    expect([...(await chainOf([null, KNOWN]).accounts(ADDRESSES)).keys()]).toEqual([programs.stake]);
  });

  it.each([
    ['none', []],
    ['fewer', [KNOWN]],
    ['more', [KNOWN, null, KNOWN]],
  ] as [string, JsonValue][])('rejects a response with %s accounts than requested', async (_, value) => {
    await expect(chainOf(value).accounts(ADDRESSES)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });
});

const [A, B, C] = [programs.vote, programs.stake, sysvars.clock];

function nodeOf() {
  const requests: (readonly WritableJson[])[] = [];
  const caller: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: async (_network, method, params): Promise<JsonValue> => {
      requests.push([method, ...params]);
      if (method !== 'getMultipleAccounts') return { value: [] };
      return { value: (params[0] as string[]).map((one) => (one === C ? null : KNOWN)) };
    },
  };
  return { requests, chain: new MemoizedChain('mainnet-beta', caller) };
}

it('MemoizedChain reads each account once across concurrent and later calls', async () => {
  const { requests, chain } = nodeOf();
  const [first, second] = await Promise.all([chain.accounts([A, C]), chain.accounts([A, B, C, B])]);
  expect([...first.keys()]).toEqual([A]);
  expect([...second.keys()]).toEqual([A, B]);
  expect([...(await chain.accounts([B, C])).keys()]).toEqual([B]);
  expect(requests.map(([, addresses]) => addresses)).toEqual([[A, C], [B]]);
});

it('MemoizedChain lists the token accounts of a wallet and program once', async () => {
  const { requests, chain } = nodeOf();
  const under = (programId: typeof A) => chain.tokenAccounts(A, { programId });
  await Promise.all([under(programs.token), under(programs.token), under(programs.token2022)]);
  expect(requests).toHaveLength(2);
});

it('MemoizedChain rejects every caller waiting for a failed read', async () => {
  const failing: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: () => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE')),
  };
  const chain = new MemoizedChain('mainnet-beta', failing);
  const both = await Promise.allSettled([chain.accounts([A]), chain.accounts([A, B])]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
