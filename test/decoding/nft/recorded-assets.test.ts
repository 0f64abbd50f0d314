import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../../packages/localnet/test/rig.ts';
import { type JsonValue, parseJson } from '../../../src/base/json.ts';
import { Chain } from '../../../src/decoding/chain/chain.ts';
import type { FoundNft, OnChainNft } from '../../../src/decoding/nft/nft.ts';
import { readNfts } from '../../../src/decoding/nft/read-nfts.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import { readAccount } from '../../../src/solana/encoding/ui-account.ts';
import { LedgerCaller } from '../../rest-api/ledger-caller.ts';

/** Accounts and DAS responses in ../shared/data/rest/metaplex; empty when absent. */
const folder = join(import.meta.dirname, '../../../../shared/data/rest/metaplex');
const isRecorded = existsSync(folder);

const read = (file: string): JsonValue =>
  isRecorded ? parseJson(readFileSync(join(folder, file), 'utf8')) : {};

type RecordedAccount = { pubkey: Address; account: JsonValue };

const accounts = read('accounts.json') as unknown as Record<string, RecordedAccount[]>;

const recordedScenarios = Object.entries(accounts).map(
  ([scenario, recorded]) =>
    [scenario, recorded.map(({ pubkey, account }) => [pubkey, readAccount(account)] as const)] as const,
);

const recordedAccounts: ReadonlyMap<Address, Account> = new Map(
  recordedScenarios.flatMap(([, recorded]) => recorded),
);

/** Members that the tests check. */
type DasAsset = {
  interface: string;
  id: Address;
  content: { json_uri: string; metadata: { name: string; symbol: string; token_standard?: string } };
  authorities: { address: string }[];
  compression: { compressed: boolean; tree: string };
  grouping: { group_key: string; group_value: string }[];
  royalty: { basis_points: number; primary_sale_happened: boolean };
  creators: { address: string; share: number; verified: boolean }[];
  ownership: { owner: string };
  mutable: boolean;
  burnt: boolean;
  mint_extensions?: { metadata?: { update_authority: string } };
  plugins?: Record<string, { data: Record<string, JsonValue> }>;
};

const answers = read('das-answers.json') as Record<string, JsonValue>;

function assetsOf(answer: JsonValue): DasAsset[] {
  if (Array.isArray(answer)) return answer.flatMap((item) => (item === null ? [] : assetsOf(item)));
  const { items, id } = answer as { items?: JsonValue; id?: string };
  if (items !== undefined) return assetsOf(items);
  return id === undefined ? [] : [answer as unknown as DasAsset];
}

/** By `scenario: id`. */
const recordedAssets: readonly (readonly [name: string, asset: DasAsset])[] = Object.entries(answers).flatMap(
  ([scenario, answer]) => assetsOf(answer).map((asset) => [`${scenario}: ${asset.id}`, asset] as const),
);

/** Assets whose account and response were recorded at different times. */
const outdated = [
  'account_updates-metadata-updated',
  'account_updates-token-updated',
  'account_updates-with-all-updates',
  'cnft_tests__mint_redeem: ',
];

const comparable = recordedAssets.filter(
  ([name, { id, compression }]) =>
    !compression.compressed && recordedAccounts.has(id) && !outdated.some((part) => name.includes(part)),
);

const interfaces: Record<string, OnChainNft['tokenStandard']> = {
  FungibleToken: 'Fungible',
  MplCoreAsset: 'NonFungible',
  MplCoreCollection: 'NonFungible',
};

/** DAS lists the authority of Token-2022 mints elsewhere. */
const authorityOf = ({ mint_extensions, authorities }: DasAsset): string | null =>
  (mint_extensions?.metadata?.update_authority ?? authorities[0]?.address) || null;

const collectionOf = ({ grouping }: DasAsset) => {
  const group = grouping.find(({ group_key }) => group_key === 'collection');
  return group === undefined ? null : { address: group.group_value, verified: true };
};

/** A DAS asset in the format of the decoder. */
const fromDas = (asset: DasAsset) => ({
  mint: asset.id,
  name: asset.content.metadata.name,
  symbol: asset.content.metadata.symbol,
  metadataUri: asset.content.json_uri,
  royaltyBasisPoints: asset.royalty.basis_points,
  owner: asset.ownership.owner || null,
  updateAuthority: authorityOf(asset),
  creators: asset.creators,
  collection: collectionOf(asset),
  traits: [],
  primarySaleHappened: asset.royalty.primary_sale_happened,
  isMutable: asset.mutable,
  tokenStandard: asset.content.metadata.token_standard ?? interfaces[asset.interface],
  merkleTree: asset.compression.tree || null,
  isBurnt: asset.burnt,
});

/** DAS omits collection names and unverified collections. */
function withoutOmitted({ collection, ...rest }: OnChainNft) {
  const isVerified = collection?.verified === true;
  return { ...rest, collection: isVerified ? { address: collection.address, verified: true } : null };
}

describe.skipIf(!isRecorded)('NFTs of real ledgers (../shared/data, metaplex)', () => {
  let rig: Rig;
  let found: Map<Address, FoundNft>;
  beforeAll(async () => {
    rig = await openRig({ accounts: [...recordedAccounts] });
    rig.freeze(2);
    const chain = new Chain('mainnet-beta', new LedgerCaller(rig));
    const ids = recordedAssets.map(([, { id }]) => id);
    found = await readNfts(chain, ids, null);
  });
  afterAll(() => rig.close());

  it('match DAS when read from accounts', () => {
    for (const [name, asset] of comparable) {
      const nft = found.get(asset.id);
      const expected = fromDas(asset);
      // DAS calls every Token-2022 mint fungible.
      if (name.includes('token_extensions_get_asset_scenario_1')) expected.tokenStandard = 'NonFungible';
      expect([name, nft && withoutOmitted(nft.onChain)]).toEqual([name, expected]);
    }
    expect(comparable.length).toBe(39);
    expect(new Set(comparable.map(([, { id }]) => id)).size).toBe(32);
  });
});
