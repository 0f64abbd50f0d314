import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { programs } from '../../solana/programs.ts';
import { Chain } from './chain.ts';

const KNOWN = { lamports: 1, owner: programs.system, executable: false, rentEpoch: 0, data: ['', 'base64'] };
const ASKED = [programs.vote, programs.stake];

/** A chain whose node answers every getMultipleAccounts so. */
function chainOf(value: JsonValue): Chain {
  const caller: RestCaller = {
    ...{ ownerId: 'somebody', signal: new AbortController().signal },
    request: async () => ({ value }),
  };
  return new Chain('mainnet-beta', caller);
}

describe('accounts of a chain', () => {
  it('are those that the node has, by the addresses that were asked for', async () => {
    expect([...(await chainOf([null, KNOWN]).accounts(ASKED)).keys()]).toEqual([programs.stake]);
  });

  it.each([
    ['none', []],
    ['fewer', [KNOWN]],
    ['more', [KNOWN, null, KNOWN]],
  ] as [string, JsonValue][])('are not read out of an answer of %s than were asked for', async (_, value) => {
    await expect(chainOf(value).accounts(ASKED)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});
