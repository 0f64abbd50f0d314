import { describe, expect, it } from 'vitest';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import { Failure } from '../../protocol/errors.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { programs, sysvars } from '../../solana/programs.ts';
import { Chain, OnceChain } from './chain.ts';

const KNOWN = { lamports: 1, owner: programs.system, executable: false, rentEpoch: 0, data: ['', 'base64'] };
const ADDRESSES = [programs.vote, programs.stake];

function chainOf(value: JsonValue): Chain {
  const caller: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: async () => ({ value }),
  };
  return new Chain('mainnet-beta', caller);
}

describe('accounts of a chain', () => {
  it('are those that the node has, by the addresses that were requests for', async () => {
    expect([...(await chainOf([null, KNOWN]).accounts(ADDRESSES)).keys()]).toEqual([programs.stake]);
  });

  it.each([
    ['none', []],
    ['fewer', [KNOWN]],
    ['more', [KNOWN, null, KNOWN]],
  ] as [string, JsonValue][])(
    'are not read out of an answer of %s than were requests for',
    async (_, value) => {
      await expect(chainOf(value).accounts(ADDRESSES)).rejects.toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
      });
    },
  );
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
  return { requests, chain: new OnceChain('mainnet-beta', caller) };
}

it('reads each account once, whoever asks and at whatever time', async () => {
  const { requests, chain } = nodeOf();
  const [first, second] = await Promise.all([chain.accounts([A, C]), chain.accounts([A, B, C, B])]);
  expect([...first.keys()]).toEqual([A]);
  expect([...second.keys()]).toEqual([A, B]);
  expect([...(await chain.accounts([B, C])).keys()]).toEqual([B]);
  expect(requests.map(([, addresses]) => addresses)).toEqual([[A, C], [B]]);
});

it('lists the token accounts of a wallet under a program once', async () => {
  const { requests, chain } = nodeOf();
  const under = (programId: typeof A) => chain.tokenAccounts(A, { programId });
  await Promise.all([under(programs.token), under(programs.token), under(programs.token2022)]);
  expect(requests).toHaveLength(2);
});

it('fails for all who wait for an account that cannot be read', async () => {
  const failing: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: () => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE')),
  };
  const chain = new OnceChain('mainnet-beta', failing);
  const both = await Promise.allSettled([chain.accounts([A]), chain.accounts([A, B])]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
