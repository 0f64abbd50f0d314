import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { key, mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { Nft } from '../../src/decoding/nft/nft.ts';
import { readAllV1 } from '../../src/rest-api/nft/read_all_v1.ts';
import { readSelected } from '../../src/rest-api/nft/read_selected.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import type { Address } from '../../src/solana/address.ts';
import { answerOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, metadata, numbered, tokenServices } from './token-fixtures.ts';

/** Needs ../shared/data/rest/nft_read_all_and_all_tokens_2023.json. */
const file = join(import.meta.dirname, '../../../shared/data/rest/nft_read_all_and_all_tokens_2023.json');
const present = existsSync(file);

type Token = {
  address: Address;
  balance: number;
  associated_account: Address;
  info: { name: string; symbol: string; image: string; decimals: number };
};
type Recorded = { nft_read_all_result: Nft[]; wallet_all_tokens_result: Token[] };
const nothing: Recorded = { nft_read_all_result: [], wallet_all_tokens_result: [] };
const { nft_read_all_result: nfts, wallet_all_tokens_result: tokens }: Recorded = present
  ? JSON.parse(readFileSync(file, 'utf8'))
  : nothing;

const OWNER = (nfts[0]?.owner ?? key(1)) as Address;
const tokenDocument = (token: Token): string => `https://example.org/${token.address}.json`;

/** Accounts that produce the recorded NFT. */
const accountsOf = (nft: Nft, n: number) => [
  [nft.mint as Address, mint(1n, 0)] as const,
  [numbered(2, n), tokenAccount(nft.mint as Address, OWNER, 1n)] as const,
  metadata(nft.mint as Address, {
    ...{ name: nft.name, symbol: nft.symbol, uri: nft.metadata_uri, royalty: nft.royalty * 100, standard: 0 },
    updateAuthority: nft.update_authority as Address,
    creators: nft.creators.map(({ address }) => address),
  }),
];

/** Off-chain document that produces the recorded NFT. */
const documentOf = ({ image_uri, description, attributes_array, files }: Nft) =>
  ({
    ...{ image: image_uri, description, external_url: '', attributes: attributes_array },
    properties: { files },
  }) as unknown as JsonValue;

describe.skipIf(!present)('recorded responses (../shared/data, rest)', () => {
  const documents = new Documents({
    ...Object.fromEntries(nfts.map((nft) => [nft.metadata_uri, documentOf(nft)])),
    ...Object.fromEntries(tokens.map((token) => [tokenDocument(token), { image: token.info.image }])),
  });
  const services = tokenServices(documents);
  let rig: Rig;
  let caller: LedgerCaller;
  beforeAll(async () => {
    const held = tokens.flatMap((token) => [
      [token.address, mint(1_000n, token.info.decimals)] as const,
      [
        token.associated_account,
        tokenAccount(token.address, OWNER, BigInt(token.balance * 10 ** token.info.decimals)),
      ] as const,
      metadata(token.address, {
        ...{ name: token.info.name, symbol: token.info.symbol, uri: tokenDocument(token) },
      }),
    ]);
    rig = await openRig({ accounts: [...nfts.flatMap(accountsOf), ...held] });
    rig.freeze();
    caller = new LedgerCaller(rig);
  });
  afterAll(() => rig.close());

  it('are all present', () => {
    expect([nfts.length, tokens.length]).toEqual([2, 1]);
  });

  it('are reproduced for NFTs, with later additions', async () => {
    const { result } = await answerOf(readAllV1, { address: OWNER }, caller, services);
    const byMint = nfts.toSorted((a, b) => (a.mint < b.mint ? -1 : 1));
    expect(result).toEqual(byMint.map((nft) => ({ ...nft, is_burnt: false })));
    const selected = { token_addresses: nfts.map((nft) => nft.mint) };
    expect((await answerOf(readSelected, selected, caller, services)).result).toEqual(
      nfts.map((nft) => ({ ...nft, is_burnt: false })),
    );
  });

  it('are reproduced for tokens, with later additions', async () => {
    const { message, result } = await answerOf(allTokens, { wallet: OWNER }, caller, services);
    expect(message).toBe('1 tokens fetched successfully');
    expect(result).toEqual(tokens.map((token) => ({ ...token, isFrozen: false })));
  });
});
