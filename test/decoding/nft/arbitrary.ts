import fc from 'fast-check';
import type { CoreAsset, CoreCollection, CorePlugins } from '../../../src/decoding/nft/core-account.ts';
import type { MetaplexEdition, MetaplexMetadata } from '../../../src/decoding/nft/metadata-accounts.ts';
import { type TokenRecord, tokenStandards } from '../../../src/decoding/nft/nft.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';

export const anyAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => addressFromBytes(bytes));

const maybeAddress = fc.option(anyAddress);
const u8 = fc.nat(255);
const u16 = fc.nat(65_535);
const u32 = fc.nat(2 ** 32 - 1);
const u64 = fc.bigInt(0n, 2n ** 64n - 1n);

export const anyText = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.endsWith('\0'));

export const anyMetadata: fc.Arbitrary<MetaplexMetadata> = fc.record({
  updateAuthority: anyAddress,
  mint: anyAddress,
  name: anyText,
  symbol: anyText,
  uri: anyText,
  sellerFeeBasisPoints: u16,
  creators: fc.array(fc.record({ address: anyAddress, share: u8, verified: fc.boolean() }), { maxLength: 5 }),
  primarySaleHappened: fc.boolean(),
  isMutable: fc.boolean(),
  tokenStandard: fc.option(fc.constantFrom(...tokenStandards)),
  collection: fc.option(fc.record({ address: anyAddress, verified: fc.boolean() })),
});

export const anyEdition: fc.Arbitrary<MetaplexEdition> = fc.oneof(
  fc.record({ type: fc.constant('master' as const), supply: u64, maxSupply: fc.option(u64) }),
  fc.record({ type: fc.constant('print' as const), parent: anyAddress, edition: u64 }),
);

const roles = ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer', 'Migration'];

export const anyTokenRecord: fc.Arbitrary<TokenRecord> = fc.record({
  address: anyAddress,
  key: fc.constant('TokenRecord'),
  state: fc.constantFrom('Unlocked', 'Locked', 'Listed'),
  rule_set_revision: fc.option(u64),
  delegate: maybeAddress,
  token_delegate_role: fc.option(fc.constantFrom(...roles)),
  locked_transfer: maybeAddress,
});

const anyPlugins: fc.Arbitrary<CorePlugins> = fc.record(
  {
    royalties: fc.record({
      basisPoints: u16,
      creators: fc.array(fc.record({ address: anyAddress, percentage: u8 }), { maxLength: 4 }),
    }),
    freezeDelegate: fc.record({ frozen: fc.boolean() }),
    updateDelegate: fc.record({ additionalDelegates: fc.array(anyAddress, { maxLength: 3 }) }),
    permanentFreezeDelegate: fc.record({ frozen: fc.boolean() }),
    attributes: fc.array(fc.record({ trait: anyText, value: anyText }), { maxLength: 4 }),
    edition: fc.record({ number: u32 }),
    masterEdition: fc.record({
      maxSupply: fc.option(u32),
      name: fc.option(anyText),
      uri: fc.option(anyText),
    }),
    immutableMetadata: fc.constant(true as const),
    verifiedCreators: fc.array(fc.record({ address: anyAddress, verified: fc.boolean() }), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

export const anyCoreAsset: fc.Arbitrary<CoreAsset> = fc
  .record({
    type: fc.constant('asset' as const),
    owner: anyAddress,
    updateAuthority: maybeAddress,
    collection: maybeAddress,
    name: anyText,
    uri: anyText,
    plugins: anyPlugins,
  })
  .map((asset) => (asset.collection === null ? asset : { ...asset, updateAuthority: null }));

export const anyCoreCollection: fc.Arbitrary<CoreCollection> = fc.record({
  type: fc.constant('collection' as const),
  updateAuthority: anyAddress,
  name: anyText,
  uri: anyText,
  numMinted: u32,
  currentSize: u32,
  plugins: anyPlugins,
});
