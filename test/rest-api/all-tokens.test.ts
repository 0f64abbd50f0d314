import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { key, mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import type { Address } from '../../src/solana/address.ts';
import { nativeMint, programs } from '../../src/solana/programs.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, heldToken, listing, metadata, numbered, tokenServices } from './token-fixtures.ts';

/** 250 tokens with metadata and off-chain images. */
const RICH = key(40);
const MIXED = key(41);
const POOR = key(42);

const [LISTED, PLAIN, NAMELESS, IN_2022] = [900, 901, 902, 903];
const documentOf = (n: number): string => `https://example.org/${n}.json`;
const imageOf = (n: number): string => `https://example.org/${n}.png`;

const rich = Array.from({ length: 250 }, (_, n) =>
  heldToken(n, RICH, { amount: 10n ** 9n + BigInt(n), decimals: 6, metadataFields: { uri: documentOf(n) } }),
).flat();

const mixed = [
  ...heldToken(LISTED, MIXED, { amount: 5n, decimals: 1, metadataFields: { uri: documentOf(LISTED) } }),
  ...heldToken(PLAIN, MIXED, {
    amount: 123_456_789n,
    decimals: 6,
    metadataFields: { uri: documentOf(PLAIN) },
  }),
  ...heldToken(NAMELESS, MIXED, { amount: 1n, decimals: 9, metadataFields: null }),
  [numbered(1, IN_2022), mint(50n, 1, programs.token2022)] as const,
  [numbered(2, IN_2022), tokenAccount(numbered(1, IN_2022), MIXED, 50n, null, programs.token2022)] as const,
  metadata(numbered(1, IN_2022), { name: 'Two', symbol: 'T22' }),
  [numbered(3, 0), tokenAccount(nativeMint, MIXED, 1_500_000_000n)] as const,
];

let rig: Rig;
let caller: LedgerCaller;
beforeAll(async () => {
  rig = await openRig({ accounts: [...rich, ...mixed] });
  rig.freeze(2);
});
afterAll(() => rig.close());

type Token = {
  address: string;
  balance: number;
  associated_account: string;
  info: { name: string; symbol: string; image: string; decimals: number };
  isFrozen: boolean;
  is_image_loading: boolean;
};

const listed = listing({
  [numbered(1, LISTED)]: { name: 'Listed', symbol: 'LST', image: 'https://example.org/listed.png' },
});
const documents = new Documents({
  [documentOf(LISTED)]: { image: 'https://example.org/another.png' },
  [documentOf(PLAIN)]: { image: imageOf(PLAIN) },
  ...Object.fromEntries(Array.from({ length: 250 }, (_, n) => [documentOf(n), { image: imageOf(n) }])),
});
const tokensOf = async (wallet: Address): Promise<Map<string, Token[]>> => {
  const { result } = await answerOf(allTokens, { wallet }, caller, tokenServices(documents, listed));
  return Map.groupBy(result as unknown as Token[], ({ address }) => address);
};

beforeAll(() => {
  caller = new LedgerCaller(rig);
});

describe('wallet/all_tokens', () => {
  it('returns 250 tokens with metadata in two calls plus one per hundred accounts', async () => {
    const answer = await answerOf(allTokens, { wallet: RICH }, caller, tokenServices(documents));
    expect(answer.message).toBe('250 tokens fetched successfully');
    expect(caller.counts()).toEqual({ getTokenAccountsByOwner: 2, getMultipleAccounts: 5 });
    expect(new Set(documents.reads()).size).toBe(250);
    const tokens = answer.result as unknown as Token[];
    expect(tokens.find(({ address }) => address === numbered(1, 7))).toEqual({
      address: numbered(1, 7),
      balance: 1000.000007,
      associated_account: numbered(2, 7),
      info: { name: 'Token 7', symbol: 'TKN', image: imageOf(7), decimals: 6 },
      isFrozen: false,
      is_image_loading: false,
    });
    const mints = Array.from({ length: 250 }, (_, n) => numbered(1, n));
    expect(tokens.map(({ address }) => address)).toEqual(mints.sort());
  });

  it('names tokens from the list, else metadata, else as unknown', async () => {
    const tokens = await tokensOf(MIXED);
    const infoOf = (n: number) => tokens.get(numbered(1, n))?.[0]?.info;
    expect(infoOf(LISTED)).toEqual({
      ...{ name: 'Listed', symbol: 'LST', image: 'https://example.org/listed.png', decimals: 1 },
    });
    expect(infoOf(PLAIN)).toEqual({ name: 'Token 901', symbol: 'TKN', image: imageOf(PLAIN), decimals: 6 });
    expect(infoOf(NAMELESS)).toEqual({ name: 'Unknown Token', symbol: 'Token', image: '', decimals: 9 });
    expect(infoOf(IN_2022)).toEqual({ name: 'Two', symbol: 'T22', image: '', decimals: 1 });
    expect(tokens.get(nativeMint)?.[0]).toMatchObject({
      ...{ balance: 1.5, info: { name: 'Wrapped SOL', symbol: 'SOL', decimals: 9 } },
    });
    expect(documents.reads()).toEqual([documentOf(PLAIN)]);
  });

  it('does not wait for images, and says which are still loading', async () => {
    documents.loading.add(documentOf(PLAIN));
    const tokens = await tokensOf(MIXED);
    documents.loading.clear();
    const loading = [LISTED, PLAIN, NAMELESS].map((n) => tokens.get(numbered(1, n))?.[0]?.is_image_loading);
    expect(loading).toEqual([false, true, false]);
  });

  it('fails on a malformed node response', async () => {
    const malformed = new LedgerCaller(rig);
    malformed.answering = ({ method }) =>
      method === 'getTokenAccountsByOwner'
        ? Promise.resolve({ value: [{ pubkey: 7 }] } as JsonValue)
        : undefined;
    expect(await failureOf(allTokens, { wallet: POOR }, malformed, tokenServices(documents))).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });
});
