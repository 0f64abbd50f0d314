import { ByteWriter } from '../../../src/base/bytes.ts';
import type { CoreAsset, CoreCollection, CorePlugins } from '../../../src/decoding/nft/core-account.ts';
import type { MetaplexEdition, MetaplexMetadata } from '../../../src/decoding/nft/metadata-accounts.ts';
import { type TokenRecord, tokenStandards } from '../../../src/decoding/nft/nft.ts';
import { type Address, addressBytes } from '../../../src/solana/address.ts';

/** Encoders of Metaplex accounts: the inverse of `src/decoding/nft`. */

type Write<T> = (writer: ByteWriter, value: T) => void;

const writeAddress: Write<Address> = (writer, value) => {
  writer.bytes(addressBytes(value));
};

const writeText: Write<string> = (writer, value) => {
  const bytes = Buffer.from(value);
  writer.u32(bytes.length).bytes(bytes);
};

const writePadded = (writer: ByteWriter, value: string, width: number): void => {
  const bytes = Buffer.from(value);
  writer
    .u32(Math.max(width, bytes.length))
    .bytes(bytes)
    .zeros(Math.max(0, width - bytes.length));
};

function writeOption<T>(writer: ByteWriter, value: T | null, write: Write<T>): void {
  writer.bool(value !== null);
  if (value !== null) write(writer, value);
}

function writeList<T>(writer: ByteWriter, values: readonly T[], write: Write<T>): void {
  writer.u32(values.length);
  for (const value of values) write(writer, value);
}

export type MetadataRest = Readonly<{
  editionNonce?: number | null;
  uses?: boolean;
  /** Remains of a longer creator list. */
  corruptTail?: Uint8Array;
  /** null: no padding. */
  size?: 679 | 607 | null;
  isPadded?: boolean;
}>;

function writeMetadataTail(
  writer: ByteWriter,
  { tokenStandard, collection }: MetaplexMetadata,
  { editionNonce = 255, uses = false }: MetadataRest,
): void {
  writeOption(writer, editionNonce, (to, nonce) => to.u8(nonce));
  writeOption(writer, tokenStandard, (to, standard) => to.u8(tokenStandards.indexOf(standard)));
  writeOption(writer, collection, (to, { address, verified }) => writeAddress(to.bool(verified), address));
  writeOption(writer, uses ? true : null, (to) => to.u8(1).u64(3n).u64(5n));
  // collectionDetails V1 with a size, and programmableConfig V1 without a rule set.
  writer.u8(1).u8(0).u64(9n).u8(1).u8(0).u8(0);
}

export function metadataData(metadata: MetaplexMetadata, rest: MetadataRest = {}): Uint8Array {
  const width = (most: number): number => (rest.isPadded === false ? 0 : most);
  const writer = new ByteWriter().u8(4);
  writeAddress(writer, metadata.updateAuthority);
  writeAddress(writer, metadata.mint);
  writePadded(writer, metadata.name, width(32));
  writePadded(writer, metadata.symbol, width(10));
  writePadded(writer, metadata.uri, width(200));
  writer.u16(metadata.sellerFeeBasisPoints);
  const creators = metadata.creators.length === 0 ? null : metadata.creators;
  writeOption(writer, creators, (to, list) =>
    writeList(to, list, (one, { address, verified, share }) => {
      writeAddress(one, address);
      one.bool(verified).u8(share);
    }),
  );
  writer.bool(metadata.primarySaleHappened).bool(metadata.isMutable);
  if (rest.corruptTail === undefined) writeMetadataTail(writer, metadata, rest);
  else writer.bytes(rest.corruptTail);
  return writer.zeros(Math.max(0, (rest.size ?? 0) - writer.length)).finish();
}

export function editionData(edition: MetaplexEdition, masterKey: 2 | 6 = 6): Uint8Array {
  if (edition.type === 'print') {
    return new ByteWriter()
      .u8(1)
      .bytes(addressBytes(edition.parent))
      .u64(edition.edition)
      .zeros(200)
      .finish();
  }
  const writer = new ByteWriter().u8(masterKey).u64(edition.supply);
  writeOption(writer, edition.maxSupply, (to, max) => to.u64(max));
  return writer.zeros(264).finish();
}

const roles = ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer'];

/** @param isOld - layout without `locked_transfer`. */
export function tokenRecordData(record: TokenRecord, isOld = false): Uint8Array {
  const state = ['Unlocked', 'Locked', 'Listed'].indexOf(record.state);
  const writer = new ByteWriter().u8(11).u8(254).u8(state);
  writeOption(writer, record.rule_set_revision, (to, revision) => to.u64(revision));
  writeOption(writer, record.delegate as Address | null, writeAddress);
  writeOption(writer, record.token_delegate_role, (to, role) =>
    to.u8(role === 'Migration' ? 255 : roles.indexOf(role)),
  );
  if (isOld) return writer.finish();
  writeOption(writer, record.locked_transfer as Address | null, writeAddress);
  return writer.finish();
}

type Plugin = readonly [type: number, data: Uint8Array, authority?: Address | 0 | 1 | 2];

function pluginData<T>(type: number, value: T | undefined, write: Write<T>): Plugin[] {
  if (value === undefined) return [];
  const writer = new ByteWriter();
  write(writer, value);
  return [[type, writer.finish()]];
}

type Says<Name extends keyof CorePlugins> = NonNullable<CorePlugins[Name]>;

const writeRoyalties: Write<Says<'royalties'>> = (writer, { basisPoints, creators }) => {
  writeList(writer.u16(basisPoints), creators, (to, { address, percentage }) => {
    writeAddress(to, address);
    to.u8(percentage);
  });
  writer.u8(2).u32(1).zeros(32);
};

const writeAttributes: Write<Says<'attributes'>> = (writer, attributes) =>
  writeList(writer, attributes, (to, { trait, value }) => {
    writeText(to, trait);
    writeText(to, value);
  });

/** Plugins that are not read. */
const others: readonly Plugin[] = [
  [2, new Uint8Array(), 1],
  [14, Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(32), 2, 0, 0, 0, 104, 105), 1],
  [15, new Uint8Array()],
  [77, Uint8Array.of(1, 2, 3)],
];

const pluginsOf = (plugins: CorePlugins): Plugin[] => [
  ...others,
  ...pluginData(0, plugins.royalties, writeRoyalties),
  ...pluginData(6, plugins.attributes, writeAttributes),
  ...pluginData(12, plugins.immutableMetadata, () => {}),
];

/** Appends header, plugins and registry, with an external plugin last. */
function writePlugins(writer: ByteWriter, plugins: CorePlugins): void {
  if (Object.keys(plugins).length === 0) return;
  const all = pluginsOf(plugins);
  const first = writer.length + 9;
  const registryAt = all.reduce((at, [, data]) => at + 1 + data.length, first);
  writer.u8(3).u64(BigInt(registryAt));
  for (const [type, data] of all) writer.u8(type).bytes(data);
  let offset = first;
  writer.u8(4);
  writeList(writer, all, (to, [type, data, authority = 2]) => {
    to.u8(type);
    if (typeof authority === 'number') to.u8(authority);
    else writeAddress(to.u8(3), authority);
    to.u64(BigInt(offset));
    offset += 1 + data.length;
  });
  // External oracle plugin with a lifecycle check.
  writer.u32(1).u8(1).u8(2).u8(1).u32(1).u8(2).u32(4).u64(120n).u8(0).u8(0);
}

export function coreAssetData(asset: CoreAsset, seq: bigint | null = null): Uint8Array {
  const writer = new ByteWriter().u8(1);
  writeAddress(writer, asset.owner);
  const authority = asset.collection ?? asset.updateAuthority;
  if (authority === null) writer.u8(0);
  else writeAddress(writer.u8(asset.collection === null ? 1 : 2), authority);
  writeText(writer, asset.name);
  writeText(writer, asset.uri);
  writeOption(writer, seq, (to, number) => to.u64(number));
  writePlugins(writer, asset.plugins);
  return writer.finish();
}

export function coreCollectionData(collection: CoreCollection): Uint8Array {
  const writer = new ByteWriter().u8(5);
  writeAddress(writer, collection.updateAuthority);
  writeText(writer, collection.name);
  writeText(writer, collection.uri);
  writer.u32(collection.numMinted).u32(collection.currentSize);
  writePlugins(writer, collection.plugins);
  return writer.finish();
}
