import { PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CoreAsset,
  type CoreCollection,
  type CorePlugins,
  coreProgram,
  decodeCoreAccount,
} from '../../../src/decoding/nft/core-account.ts';
import {
  decodeMetaplexEdition,
  decodeMetaplexMetadata,
  decodeTokenRecord,
  type MetaplexEdition,
  type MetaplexMetadata,
  readToken2022Metadata,
} from '../../../src/decoding/nft/metadata-accounts.ts';
import {
  editionAddress,
  metadataAddress,
  metadataAddresses,
  metadataProgram,
  tokenRecordAddress,
} from '../../../src/decoding/nft/metaplex-addresses.ts';
import { type TokenRecord, tokenStandards } from '../../../src/decoding/nft/nft.ts';
import { type Address, address, addressFromBytes } from '../../../src/solana/address.ts';
import {
  coreAssetData,
  coreCollectionData,
  editionData,
  metadataData,
  tokenRecordData,
} from './encode-accounts.ts';
import { token2022Mint } from './token-2022-mint.ts';

const anyAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => addressFromBytes(bytes));

const maybeAddress = fc.option(anyAddress);
const u8 = fc.nat(255);
const u16 = fc.nat(65_535);
const u32 = fc.nat(2 ** 32 - 1);
const u64 = fc.bigInt(0n, 2n ** 64n - 1n);

const anyText = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.endsWith('\0'));

const anyMetadata: fc.Arbitrary<MetaplexMetadata> = fc.record({
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

const anyEdition: fc.Arbitrary<MetaplexEdition> = fc.oneof(
  fc.record({ type: fc.constant('master' as const), supply: u64, maxSupply: fc.option(u64) }),
  fc.record({ type: fc.constant('print' as const), parent: anyAddress, edition: u64 }),
);

const roles = ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer', 'Migration'];

const anyTokenRecord: fc.Arbitrary<TokenRecord> = fc.record({
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
    attributes: fc.array(fc.record({ trait: anyText, value: anyText }), { maxLength: 4 }),
    immutableMetadata: fc.constant(true as const),
  },
  { requiredKeys: [] },
);

const anyCoreAsset: fc.Arbitrary<CoreAsset> = fc
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

const anyCoreCollection: fc.Arbitrary<CoreCollection> = fc.record({
  type: fc.constant('collection' as const),
  updateAuthority: anyAddress,
  name: anyText,
  uri: anyText,
  numMinted: u32,
  currentSize: u32,
  plugins: anyPlugins,
});

describe('metadata account', () => {
  const rest = fc.record({
    size: fc.constantFrom(679 as const, 607 as const, null),
    isPadded: fc.boolean(),
    uses: fc.boolean(),
    editionNonce: fc.option(fc.nat(255)),
  });

  it('decodes every size, padded or not', () => {
    fc.assert(
      fc.property(anyMetadata, rest, (metadata, also) => {
        expect(decodeMetaplexMetadata(metadataData(metadata, also))).toEqual(metadata);
      }),
    );
  });

  it('has no token standard and collection when the tail is missing or corrupt', () => {
    const key = new Uint8Array(32);
    const tails = [
      ...[[], [0, 9], [1, 255, 1, 9], [0, 1, 0, 1, 2, ...key], [0, 1, 0, 0, 1, 9], [0, 1, 0, 0, 1, 1]],
      ...[[2], [0, 2], [0, 1, 0, 2], [0, 1, 0, 0, 2]],
    ];
    fc.assert(
      fc.property(anyMetadata, fc.constantFrom(...tails), (metadata, tail) => {
        const data = metadataData(metadata, { corruptTail: Uint8Array.from(tail) });
        expect(decodeMetaplexMetadata(data)).toEqual({ ...metadata, tokenStandard: null, collection: null });
      }),
    );
  });

  it('is not decoded as edition or token record', () => {
    fc.assert(
      fc.property(anyMetadata, anyEdition, anyTokenRecord, (metadata, edition, record) => {
        expect(decodeMetaplexMetadata(editionData(edition))).toBeNull();
        expect(decodeMetaplexMetadata(tokenRecordData(record))).toBeNull();
        expect(decodeMetaplexEdition(metadataData(metadata))).toBeNull();
        expect(decodeTokenRecord(metadata.mint, metadataData(metadata))).toBeNull();
      }),
    );
  });
});

describe('edition', () => {
  it('decodes both versions', () => {
    fc.assert(
      fc.property(anyEdition, fc.constantFrom(2 as const, 6 as const), (edition, masterKey) => {
        expect(decodeMetaplexEdition(editionData(edition, masterKey))).toEqual(edition);
      }),
    );
  });
});

describe('token record', () => {
  it('decodes records with and without the locked transfer', () => {
    fc.assert(
      fc.property(anyTokenRecord, fc.boolean(), (any, isOld) => {
        const record = isOld ? { ...any, locked_transfer: null } : any;
        const data = tokenRecordData(record, isOld);
        expect(decodeTokenRecord(record.address as typeof coreProgram, data)).toEqual(record);
      }),
    );
  });

  it('rejects unknown states and roles', () => {
    const isRead = (...data: number[]) => decodeTokenRecord(coreProgram, Uint8Array.from(data)) !== null;
    expect(isRead(11, 255, 2, 0, 0, 0, 0)).toBe(true);
    expect(isRead(12, 255, 2, 0, 0, 0, 0)).toBe(false);
    expect(isRead(11, 255, 3, 0, 0, 0, 0)).toBe(false);
    expect(isRead(11, 255, 0, 0, 0, 1, 6, 0)).toBe(false);
    expect(isRead(11, 255, 0, 0, 0, 1, 255, 0)).toBe(true);
  });
});

describe('MPL Core account', () => {
  it('decodes assets and collections with known, unknown and external plugins', () => {
    fc.assert(
      fc.property(anyCoreAsset, fc.option(fc.bigInt(0n, 2n ** 64n - 1n)), (asset, seq) => {
        expect(decodeCoreAccount(coreAssetData(asset, seq))).toEqual(asset);
      }),
    );
    fc.assert(
      fc.property(anyCoreCollection, (collection) => {
        expect(decodeCoreAccount(coreCollectionData(collection))).toEqual(collection);
      }),
    );
  });

  it('has no plugins when header and registry disagree', () => {
    const [asset] = fc.sample(anyCoreAsset, 1);
    const bare = coreAssetData({ ...asset!, plugins: {} });
    const full = coreAssetData({ ...asset!, plugins: { attributes: [{ trait: 'a', value: 'b' }] } });
    const far = Uint8Array.from(full);
    far.fill(255, bare.length + 1, bare.length + 9);
    expect(decodeCoreAccount(far)).toEqual({ ...asset, plugins: {} });
    const other = Uint8Array.from(full);
    other[other.indexOf(6, bare.length + 9)] = 7;
    expect(decodeCoreAccount(other)).toEqual({ ...asset, plugins: {} });
  });

  it('is null or has no plugins when truncated', () => {
    const [asset] = fc.sample(anyCoreAsset, 1);
    const bare = coreAssetData({ ...asset!, plugins: {} }).length;
    const plugins = { attributes: [{ trait: 'a', value: 'b' }] };
    const data = coreAssetData({ ...asset!, plugins });
    for (let length = 0; length < data.length; length++) {
      const read = decodeCoreAccount(data.subarray(0, length));
      expect(length < bare ? [null] : [{}, plugins]).toContainEqual(read?.plugins ?? null);
    }
  });

  it('reads a plugin once however often the registry lists it', () => {
    const attributes = Array.from({ length: 20_000 }, () => ({ trait: 'a', value: 'b' }));
    const [asset] = fc.sample(anyCoreAsset, 1);
    const data = coreAssetData({ ...asset!, plugins: { attributes } });
    const bare = coreAssetData({ ...asset!, plugins: {} });
    const offset = BigInt(data.indexOf(6, bare.length + 9));
    const record = Buffer.alloc(10);
    record.writeUInt8(6, 0);
    record.writeBigUInt64LE(offset, 2);
    const registry = new DataView(data.buffer, data.byteOffset).getBigUint64(bare.length + 1, true);
    const head = Buffer.from([4, 0, 0, 0, 0]);
    head.writeUInt32LE(20_000, 1);
    const hostile = Buffer.concat([
      data.subarray(0, Number(registry)),
      head,
      ...Array.from({ length: 20_000 }, () => record),
    ]);
    const started = performance.now();
    expect(decodeCoreAccount(hostile)?.plugins.attributes).toHaveLength(20_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('Token-2022 metadata', () => {
  it('decodes additional fields and the group', () => {
    const fields = fc.array(fc.tuple(anyText, anyText), { maxLength: 3 });
    fc.assert(
      fc.property(anyAddress, fc.option(anyAddress), fc.option(anyAddress), anyText, fields, (...given) => {
        const [mint, updateAuthority, group, name, additionalMetadata] = given;
        const members = { updateAuthority, group, name, additionalMetadata };
        const read = readToken2022Metadata(token2022Mint({ mint, ...members }));
        expect(read).toMatchObject({ ...members, symbol: 'SYM', uri: 'https://u' });
      }),
    );
  });
});

describe('metadata program addresses', () => {
  const find = (...seeds: (Buffer | Uint8Array)[]): string => {
    const program = new PublicKey(metadataProgram);
    return PublicKey.findProgramAddressSync(
      [Buffer.from('metadata'), program.toBytes(), ...seeds],
      program,
    )[0].toBase58();
  };
  const mint = address('AH6wj7T8Ke5nbukjtcobjjs1CDWUcQxndtnLkKAdrSrM');

  it('match known addresses', async () => {
    const bytes = new PublicKey(mint).toBytes();
    expect(metadataAddress(mint)).toBe('7fXKY9tPpvYsdbSNyesUqo27WYC6ZsBEULdtngGHqLCK');
    // Its mint authority is its edition.
    expect(editionAddress(mint)).toBe('FAzbjKo66M3tKhkKqegmWFaYr93FB74B1ChEBdFyKcip');
    expect(editionAddress(mint)).toBe(find(bytes, Buffer.from('edition')));
    const tokenAccount = address('8Xv3SpX94HHf32Apg4TeSeS3i2p6wuXeE8FBZr168Hti');
    const record = find(bytes, Buffer.from('token_record'), new PublicKey(tokenAccount).toBytes());
    expect(tokenRecordAddress(mint, tokenAccount)).toBe(record);
    expect(await metadataAddresses([mint, mint])).toEqual([metadataAddress(mint), metadataAddress(mint)]);
  });
});
