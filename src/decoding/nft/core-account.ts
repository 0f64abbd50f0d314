import type { ByteReader } from '../../base/bytes.ts';
import { ADDRESS_BYTES, type Address } from '../../solana/address.ts';
import { readAddress, readBorsh, readList, readOption, readText } from '../borsh.ts';
import { appPrograms } from '../program-addresses.ts';

const readRoyalties = (reader: ByteReader) => ({
  basisPoints: reader.u16(),
  creators: readList(reader, (creator) => ({ address: readAddress(creator), percentage: creator.u8() })),
});

const readAttribute = (reader: ByteReader) => ({ trait: readText(reader), value: readText(reader) });

/** The plugins that NFTs show, from a registry at the end. Source: mpl-core, `plugins/`, `state/`. */
export type CorePlugins = Readonly<{
  royalties?: Readonly<{
    basisPoints: number;
    creators: readonly Readonly<{ address: Address; percentage: number }>[];
  }>;
  attributes?: readonly Readonly<{ trait: string; value: string }>[];
  immutableMetadata?: true;
}>;

const kinds = new Map<number, (reader: ByteReader) => CorePlugins>([
  [0, (reader) => ({ royalties: readRoyalties(reader) })],
  [6, (reader) => ({ attributes: readList(reader, readAttribute) })],
  [12, () => ({ immutableMetadata: true })],
]);

const PLUGIN_HEADER_V1 = 3;
const PLUGIN_REGISTRY_V1 = 4;

type PluginRecord = Readonly<{ type: number; offset: number }>;

/** `Authority`: only the address variant holds more than its tag. */
const ADDRESS_AUTHORITY = 3;

/** An offset too large for an exact number is past the end of every account anyway. */
const readOffset = (reader: ByteReader): number => Number(reader.u64());

function readRecord(reader: ByteReader): PluginRecord {
  const type = reader.u8();
  if (reader.u8() === ADDRESS_AUTHORITY) reader.skipBytes(ADDRESS_BYTES);
  return { type, offset: readOffset(reader) };
}

function readPlugin(data: Uint8Array, { type, offset }: PluginRecord): CorePlugins {
  const read = kinds.get(type);
  if (read === undefined || data[offset] !== type) return {};
  return readBorsh(data.subarray(offset + 1), read) ?? {};
}

/** @param end - of the base data, where the header stands. External plugins are not read. */
function readCorePlugins(data: Uint8Array, end: number): CorePlugins {
  const registry = readBorsh(data.subarray(end), (reader) =>
    reader.u8() === PLUGIN_HEADER_V1 ? readOffset(reader) : null,
  );
  if (registry === null) return {};
  const records = readBorsh(data.subarray(registry), (reader) =>
    reader.u8() === PLUGIN_REGISTRY_V1 ? readList(reader, readRecord) : null,
  );
  // At most one plugin of each type, which bounds the work for any registry.
  const ofEach = new Map((records ?? []).map((record) => [record.type, record]));
  return Object.assign({}, ...[...ofEach.values()].map((record) => readPlugin(data, record)));
}

export const coreProgram: Address = appPrograms.mplCore;

/** Source: mpl-core, `state/asset.rs`. */
export type CoreAsset = Readonly<{
  type: 'asset';
  owner: Address;
  updateAuthority: Address | null;
  /** Collection that holds the update authority, verified by the program. */
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
/** `Key::AssetV1` in base58, for searches. */
export const CORE_ASSET_KEY_BASE58 = '2';

function readUpdateAuthority(reader: ByteReader): Pick<CoreAsset, 'updateAuthority' | 'collection'> | null {
  const tag = reader.u8();
  if (tag === 0) return { updateAuthority: null, collection: null };
  if (tag === 1) return { updateAuthority: readAddress(reader), collection: null };
  return tag === 2 ? { updateAuthority: null, collection: readAddress(reader) } : null;
}

function readCollection(reader: ByteReader, data: Uint8Array): CoreCollection {
  const updateAuthority = readAddress(reader);
  const texts = { name: readText(reader), uri: readText(reader) };
  const sizes = { numMinted: reader.u32(), currentSize: reader.u32() };
  const plugins = readCorePlugins(data, reader.offset);
  return { type: 'collection', updateAuthority, ...texts, ...sizes, plugins };
}

export function decodeCoreAccount(data: Uint8Array): CoreAsset | CoreCollection | null {
  return readBorsh(data, (reader) => {
    const key = reader.u8();
    if (key === ASSET_V1) {
      const owner = readAddress(reader);
      const authority = readUpdateAuthority(reader);
      if (authority === null) return null;
      const texts = { name: readText(reader), uri: readText(reader) };
      readOption(reader, (seq) => seq.u64());
      return { type: 'asset', owner, ...authority, ...texts, plugins: readCorePlugins(data, reader.offset) };
    }
    return key === COLLECTION_V1 ? readCollection(reader, data) : null;
  });
}

export const inheritedPlugins = (asset: CoreAsset, collection: CoreCollection | null): CorePlugins => ({
  ...collection?.plugins,
  ...asset.plugins,
});
