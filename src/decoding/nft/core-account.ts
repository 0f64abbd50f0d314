import type { ByteReader } from '../../base/bytes.ts';
import { ADDRESS_BYTES, type Address } from '../../solana/address.ts';
import { pubkey, readOption, readOrNull } from '../../solana/codec.ts';
import { readList, readText } from '../borsh.ts';
import { appPrograms } from '../program-addresses.ts';

const readRoyalties = (reader: ByteReader) => ({
  basisPoints: reader.u16(),
  creators: readList(reader, (creator) => ({ address: pubkey.read(creator), percentage: creator.u8() })),
});

const readAttribute = (reader: ByteReader) => ({ trait: readText(reader), value: readText(reader) });

/** Plugins shown in NFT results. The account ends with a plugin registry. Source: mpl-core, `plugins/`, `state/`. */
export type CorePlugins = Readonly<{
  royalties?: Readonly<ReturnType<typeof readRoyalties>>;
  attributes?: readonly Readonly<ReturnType<typeof readAttribute>>[];
  immutableMetadata?: true;
}>;

const pluginReaders = new Map<number, (reader: ByteReader) => CorePlugins>([
  [0, (reader) => ({ royalties: readRoyalties(reader) })],
  [6, (reader) => ({ attributes: readList(reader, readAttribute) })],
  [12, () => ({ immutableMetadata: true })],
]);

const PLUGIN_HEADER_V1 = 3;
const PLUGIN_REGISTRY_V1 = 4;

type PluginRecord = Readonly<{ type: number; offset: number }>;

/** The `Authority` variant that is followed by an address; the other variants consist of the tag only. */
const ADDRESS_AUTHORITY = 3;

/** Offsets above 2^53 lose precision, but no account is that long. */
const readOffset = (reader: ByteReader): number => Number(reader.u64());

function readRecord(reader: ByteReader): PluginRecord {
  const type = reader.u8();
  if (reader.u8() === ADDRESS_AUTHORITY) reader.skipBytes(ADDRESS_BYTES);
  return { type, offset: readOffset(reader) };
}

function readPlugin(data: Uint8Array, { type, offset }: PluginRecord): CorePlugins {
  const read = pluginReaders.get(type);
  if (read === undefined || data[offset] !== type) return {};
  return readOrNull(data.subarray(offset + 1), read) ?? {};
}

/** External plugins are not read. @param headerOffset - end of the base data, where the plugin header starts. */
function readCorePlugins(data: Uint8Array, headerOffset: number): CorePlugins {
  const registryOffset = readOrNull(data.subarray(headerOffset), (reader) =>
    reader.u8() === PLUGIN_HEADER_V1 ? readOffset(reader) : null,
  );
  if (registryOffset === null) return {};
  const records = readOrNull(data.subarray(registryOffset), (reader) =>
    reader.u8() === PLUGIN_REGISTRY_V1 ? readList(reader, readRecord) : null,
  );
  // Read at most one plugin of each type, to bound the work however long the registry is.
  const recordsByType = new Map((records ?? []).map((record) => [record.type, record]));
  return Object.assign({}, ...[...recordsByType.values()].map((record) => readPlugin(data, record)));
}

export const coreProgram: Address = appPrograms.mplCore;

/** Source: mpl-core, `state/asset.rs`. */
export type CoreAsset = Readonly<{
  type: 'asset';
  owner: Address;
  updateAuthority: Address | null;
  /** Collection that acts as the update authority. The program verifies membership. */
  collection: Address | null;
  name: string;
  uri: string;
  plugins: CorePlugins;
}>;

/** Source: mpl-core, `state/collection.rs`. */
export type CoreCollection = Readonly<{
  type: 'collection';
  updateAuthority: Address;
  name: string;
  uri: string;
  numMinted: number;
  currentSize: number;
  plugins: CorePlugins;
}>;

const ASSET_V1 = 1;
const COLLECTION_V1 = 5;

export const coreAssetOffsets = { key: 0, owner: 1 } as const;
/** `Key::AssetV1` in base58, for memcmp filters. */
export const CORE_ASSET_KEY_BASE58 = '2';

function readUpdateAuthority(reader: ByteReader): Pick<CoreAsset, 'updateAuthority' | 'collection'> | null {
  const tag = reader.u8();
  if (tag === 0) return { updateAuthority: null, collection: null };
  if (tag === 1) return { updateAuthority: pubkey.read(reader), collection: null };
  return tag === 2 ? { updateAuthority: null, collection: pubkey.read(reader) } : null;
}

function readCollection(reader: ByteReader, data: Uint8Array): CoreCollection {
  const updateAuthority = pubkey.read(reader);
  const texts = { name: readText(reader), uri: readText(reader) };
  const sizes = { numMinted: reader.u32(), currentSize: reader.u32() };
  const plugins = readCorePlugins(data, reader.offset);
  return { type: 'collection', updateAuthority, ...texts, ...sizes, plugins };
}

export function decodeCoreAccount(data: Uint8Array): CoreAsset | CoreCollection | null {
  return readOrNull(data, (reader) => {
    const key = reader.u8();
    if (key === ASSET_V1) {
      const owner = pubkey.read(reader);
      const authority = readUpdateAuthority(reader);
      if (authority === null) return null;
      const texts = { name: readText(reader), uri: readText(reader) };
      // Skip the sequence number, which compression uses.
      readOption(reader, (number) => number.u64());
      return { type: 'asset', owner, ...authority, ...texts, plugins: readCorePlugins(data, reader.offset) };
    }
    return key === COLLECTION_V1 ? readCollection(reader, data) : null;
  });
}

export const effectivePlugins = (asset: CoreAsset, collection: CoreCollection | null): CorePlugins => ({
  ...collection?.plugins,
  ...asset.plugins,
});
