import type { ByteReader } from '../../base/bytes.ts';
import type { Address } from '../../solana/address.ts';
import { readAddress, readBorsh, readOption, readText } from '../borsh.ts';
import { appPrograms } from '../program-addresses.ts';
import { type CorePlugins, readCorePlugins } from './core-plugins.ts';

/** The program of MPL Core: NFTs of one account each, without a token. Source: mpl-core. */
export const coreProgram: Address = appPrograms.mplCore;

/** An asset. Source: mpl-core, `state/asset.rs`. */
export type CoreAsset = Readonly<{
  type: 'asset';
  owner: Address;
  /** Its own; null when nobody has it, or its collection has. */
  updateAuthority: Address | null;
  /** The collection that has the update authority. The program has checked it. */
  collection: Address | null;
  name: string;
  uri: string;
  plugins: CorePlugins;
}>;

/** A collection. Source: mpl-core, `state/collection.rs`. */
export type CoreCollection = Readonly<{
  type: 'collection';
  updateAuthority: Address;
  name: string;
  uri: string;
  numMinted: number;
  currentSize: number;
  plugins: CorePlugins;
}>;

/** `Key` of each, the first byte of the account. */
const ASSET_V1 = 1;
const COLLECTION_V1 = 5;

/** A search for the assets of an owner compares these parts of an account. */
export const coreAssetOffsets = { key: 0, owner: 1 } as const;
/** The key of an asset, as a search compares it. */
export const CORE_ASSET_KEY_BASE58 = '2';

function readUpdateAuthority(reader: ByteReader): Pick<CoreAsset, 'updateAuthority' | 'collection'> | null {
  const tag = reader.u8();
  if (tag === 0) return { updateAuthority: null, collection: null };
  if (tag === 1) return { updateAuthority: readAddress(reader), collection: null };
  return tag === 2 ? { updateAuthority: null, collection: readAddress(reader) } : null;
}

function readAsset(reader: ByteReader, data: Uint8Array): CoreAsset | null {
  const owner = readAddress(reader);
  const authority = readUpdateAuthority(reader);
  if (authority === null) return null;
  const texts = { name: readText(reader), uri: readText(reader) };
  readOption(reader, (seq) => seq.u64());
  return { type: 'asset', owner, ...authority, ...texts, plugins: readCorePlugins(data, reader.offset) };
}

function readCollection(reader: ByteReader, data: Uint8Array): CoreCollection {
  const updateAuthority = readAddress(reader);
  const texts = { name: readText(reader), uri: readText(reader) };
  const sizes = { numMinted: reader.u32(), currentSize: reader.u32() };
  const plugins = readCorePlugins(data, reader.offset);
  return { type: 'collection', updateAuthority, ...texts, ...sizes, plugins };
}

/** Decodes the data of an account of the program. @returns null when it is neither an asset nor a collection. */
export function decodeCoreAccount(data: Uint8Array): CoreAsset | CoreCollection | null {
  return readBorsh(data, (reader) => {
    const key = reader.u8();
    if (key === ASSET_V1) return readAsset(reader, data);
    return key === COLLECTION_V1 ? readCollection(reader, data) : null;
  });
}

/** What counts for an asset: its own plugins, and its collection's where it has none of the type. */
export const inheritedPlugins = (asset: CoreAsset, collection: CoreCollection | null): CorePlugins => ({
  ...collection?.plugins,
  ...asset.plugins,
});
