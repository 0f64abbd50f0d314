import { createHash } from 'node:crypto';
import { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import { InvalidEncoding, utf8 } from '../../codec.ts';
import type { Types } from '../members.ts';
import { type ParsedParts, type Variant, variants } from './variant.ts';

const own: Types = {
  /** Three fields have fixed names. For any other field, the data contains the name. */
  field: (data) => {
    const number = data.u8();
    if (number > 3) throw new InvalidEncoding('unknown metadata field');
    return ['name', 'symbol', 'uri'][number] ?? utf8(data.bytes(data.u32()));
  },
};

/** Data starts with the first 8 bytes of the SHA-256 of `interface:name`. Names are in the order of `rows`. */
const discriminants: Readonly<Record<string, readonly string[]>> = {
  spl_token_metadata_interface: [
    ...['initialize_account', 'updating_field', 'remove_key_ix', 'update_the_authority', 'emitter'],
  ],
  spl_token_group_interface: [
    ...['initialize_token_group', 'update_group_max_size', 'update_authority', 'initialize_member'],
  ],
};

const rows = variants(
  `
  initializeTokenMetadata metadata updateAuthority mint mintAuthority: name symbol uri string!
  updateTokenMetadataField metadata updateAuthority: field field, value string!
  removeTokenMetadataKey metadata updateAuthority: idempotent bool, key string!
  updateTokenMetadataAuthority metadata updateAuthority: newAuthority zeroable~!
  emitTokenMetadata metadata: start end u64?!
  initializeTokenGroup group mint mintAuthority: updateAuthority zeroable~, maxSize u64!
  updateTokenGroupMaxSize group updateAuthority: maxSize u64!
  updateTokenGroupAuthority group updateAuthority: newAuthority zeroable~!
  initializeTokenGroupMember member memberMint memberMintAuthority group groupUpdateAuthority:!
`,
  {},
  own,
);

const DISCRIMINATOR_BYTES = 8;

const discriminatorOf = (name: string): string =>
  createHash('sha256').update(name).digest().toString('hex', 0, DISCRIMINATOR_BYTES);

const byDiscriminator: ReadonlyMap<string, Variant> = new Map(
  Object.entries(discriminants)
    .flatMap(([prefix, names]) => names.map((name) => discriminatorOf(`${prefix}:${name}`)))
    .map((discriminator, at) => [discriminator, rows[at] as Variant]),
);

/** Source: transaction-status/src/parse_token/extension/token_metadata.rs and token_group.rs */
export function parseInterfaceData(bytes: Uint8Array, given: readonly Address[]): ParsedParts | null {
  const data = new ByteReader(bytes);
  const discriminator = Buffer.from(data.bytes(DISCRIMINATOR_BYTES)).toString('hex');
  return byDiscriminator.get(discriminator)?.(data, given) ?? null;
}
