import type { ByteReader } from '../../base/bytes.ts';
import { ADDRESS_BYTES, type Address } from '../../solana/address.ts';
import { readAddress, readBool, readBorsh, readList, readOption, readText } from '../borsh.ts';

/**
 * Plugins of MPL Core, which stand behind an asset or a collection and are found through a registry at the end of the
 * account. Source: mpl-core, `plugins/`, `state/`.
 */

/** What plugins say, by type. Those that hold nothing are true; those that are not there are absent. */
export type CorePlugins = Readonly<{
  royalties?: Readonly<{
    basisPoints: number;
    creators: readonly Readonly<{ address: Address; percentage: number }>[];
  }>;
  freezeDelegate?: Readonly<{ frozen: boolean }>;
  updateDelegate?: Readonly<{ additionalDelegates: readonly Address[] }>;
  permanentFreezeDelegate?: Readonly<{ frozen: boolean }>;
  attributes?: readonly Readonly<{ trait: string; value: string }>[];
  edition?: Readonly<{ number: number }>;
  masterEdition?: Readonly<{ maxSupply: number | null; name: string | null; uri: string | null }>;
  immutableMetadata?: true;
  verifiedCreators?: readonly Readonly<{ address: Address; verified: boolean }>[];
}>;

/** `Key` of what stands behind the base of an account. */
const PLUGIN_HEADER_V1 = 3;
const PLUGIN_REGISTRY_V1 = 4;

const readFrozen = (reader: ByteReader) => ({ frozen: readBool(reader) });

/** By the number of the plugin's type. Those that say nothing an NFT shows are passed over. */
const kinds = new Map<number, (reader: ByteReader) => CorePlugins>([
  [0, (reader) => ({ royalties: readRoyalties(reader) })],
  [1, (reader) => ({ freezeDelegate: readFrozen(reader) })],
  [4, (reader) => ({ updateDelegate: { additionalDelegates: readList(reader, readAddress) } })],
  [5, (reader) => ({ permanentFreezeDelegate: readFrozen(reader) })],
  [6, (reader) => ({ attributes: readList(reader, readAttribute) })],
  [9, (reader) => ({ edition: { number: reader.u32() } })],
  [10, (reader) => ({ masterEdition: readMasterEdition(reader) })],
  [12, () => ({ immutableMetadata: true })],
  [13, (reader) => ({ verifiedCreators: readList(reader, readSignature) })],
]);

const readRoyalties = (reader: ByteReader): NonNullable<CorePlugins['royalties']> => ({
  basisPoints: reader.u16(),
  creators: readList(reader, (creator) => ({ address: readAddress(creator), percentage: creator.u8() })),
});

const readAttribute = (reader: ByteReader) => ({ trait: readText(reader), value: readText(reader) });

const readSignature = (reader: ByteReader) => ({ address: readAddress(reader), verified: readBool(reader) });

const readMasterEdition = (reader: ByteReader) => ({
  maxSupply: readOption(reader, (max) => max.u32()),
  name: readOption(reader, readText),
  uri: readOption(reader, readText),
});

/** The type of a plugin of the program's own, and where it stands. */
type PluginRecord = Readonly<{ type: number; offset: number }>;

/** `Authority`: only an address takes more than its tag. */
const ADDRESS_AUTHORITY = 3;

/** An offset that a number rounds is behind the end of every account. */
const readOffset = (reader: ByteReader): number => Number(reader.u64());

function readRecord(reader: ByteReader): PluginRecord {
  const type = reader.u8();
  // Who may change the plugin is nothing that is shown.
  if (reader.u8() === ADDRESS_AUTHORITY) reader.skipBytes(ADDRESS_BYTES);
  return { type, offset: readOffset(reader) };
}

/** What the plugin at its place says; nothing when it is another than the registry says, or not whole. */
function readPlugin(data: Uint8Array, { type, offset }: PluginRecord): CorePlugins {
  const read = kinds.get(type);
  if (read === undefined || data[offset] !== type) return {};
  return readBorsh(data.subarray(offset + 1), read) ?? {};
}

/**
 * The plugins of an account.
 * @param data - of the whole account.
 * @param end - where its base ends: a header follows when there are plugins. External plugins stand last in the
 * registry, and are not read.
 */
export function readCorePlugins(data: Uint8Array, end: number): CorePlugins {
  const registry = readBorsh(data.subarray(end), (reader) =>
    reader.u8() === PLUGIN_HEADER_V1 ? readOffset(reader) : null,
  );
  if (registry === null) return {};
  const records = readBorsh(data.subarray(registry), (reader) =>
    reader.u8() === PLUGIN_REGISTRY_V1 ? readList(reader, readRecord) : null,
  );
  // One of each type, as the program has it: what is read is bounded whatever the registry says.
  const ofEach = new Map((records ?? []).map((record) => [record.type, record]));
  return Object.assign({}, ...[...ofEach.values()].map((record) => readPlugin(data, record)));
}
