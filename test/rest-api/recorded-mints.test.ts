import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { type JsonValue, writeJson } from '../../src/base/json.ts';
import { readAll } from '../../src/rest-api/nft/read_all.ts';
import { getInfo } from '../../src/rest-api/token/get_info.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import type { Address } from '../../src/solana/address.ts';
import { isTokenProgram } from '../../src/solana/programs.ts';
import { decodeMint, decodeTokenAccount } from '../../src/solana/token/token-state.ts';
import { isRecorded, recordedAccounts, recordedAssets } from '../decoding/nft/recorded-assets.ts';
import { answerOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, tokenServices } from './token-fixtures.ts';

type Fungible = {
  supply: number | bigint;
  decimals: number;
  mint_authority?: string;
  freeze_authority?: string;
};

const services = tokenServices(new Documents());
const owned = [...recordedAccounts].filter(([, { owner }]) => isTokenProgram(owner));
const mints = owned.flatMap(([at, { data }]) => (decodeMint(data) === null ? [] : [at]));
const held = owned.flatMap(([, { data }]) => decodeTokenAccount(data) ?? []);

/** Mints by DAS data. */
const actual = new Map(
  recordedAssets.flatMap(([, asset]) => {
    const { token_info: info } = asset as unknown as { token_info?: Fungible };
    return info !== undefined && recordedAccounts.has(asset.id) ? [[asset.id, { asset, info }] as const] : [];
  }),
);

describe.skipIf(!isRecorded)('mints of real ledgers (../shared/data, metaplex)', () => {
  let rig: Rig;
  let caller: LedgerCaller;
  beforeAll(async () => {
    rig = await openRig({ accounts: [...recordedAccounts] });
    rig.freeze();
    caller = new LedgerCaller(rig);
  });
  afterAll(() => rig.close());

  const infoOf = async (mint: Address) =>
    (await answerOf(getInfo, { token_address: mint }, caller, services)).result as { extensions: JsonValue };

  it('match DAS', async () => {
    expect(actual.size).toBe(2);
    for (const [mint, { asset, info }] of actual) {
      const { name, symbol } = asset.content.metadata;
      expect(await infoOf(mint)).toMatchObject({
        ...{ name, symbol, metadata_uri: asset.content.json_uri, address: mint, decimals: info.decimals },
        current_supply: Number(info.supply) / 10 ** info.decimals,
        mint_authority: info.mint_authority ?? '',
        freeze_authority: info.freeze_authority ?? '',
      });
    }
  });

  it('have the extensions of jsonParsed', async () => {
    const withExtensions: string[] = [];
    for (const mint of mints) {
      const { value } = await rig.result('getAccountInfo', [mint, { encoding: 'jsonParsed' }]);
      const { extensions = [] } = value.data.parsed.info;
      // As text, since members are ordered.
      const actual = writeJson((await infoOf(mint)).extensions);
      expect([mint, actual]).toEqual([mint, JSON.stringify(extensions)]);
      if (extensions.length > 0) withExtensions.push(mint);
    }
    expect(mints.length).toBe(19);
    expect(withExtensions.length).toBe(2);
  });

  it('appear for each holder either as token or as NFT', async () => {
    const seen = { tokens: 0, nfts: 0 };
    for (const wallet of new Set(held.map(({ owner }) => owner))) {
      const all = (await answerOf(allTokens, { wallet }, caller, services)).result as { address: Address }[];
      const page = (await answerOf(readAll, { address: wallet }, caller, services)).result as unknown as {
        nfts: { mint: Address }[];
        total_pages: number;
      };
      expect(page.total_pages).toBeLessThan(2);
      const tokens = new Set(all.map(({ address }) => address));
      const nfts = new Set(page.nfts.map(({ mint }) => mint));
      for (const { owner, mint, amount } of held) {
        if (owner !== wallet || amount === 0n || !mints.includes(mint)) continue;
        expect([mint, tokens.has(mint), nfts.has(mint)]).toEqual([mint, !nfts.has(mint), nfts.has(mint)]);
        seen[tokens.has(mint) ? 'tokens' : 'nfts']++;
      }
    }
    expect(seen.tokens).toBeGreaterThan(0);
    expect(seen.nfts).toBeGreaterThan(5);
  });
});
