import { ByteReader } from '../../base/bytes.ts';
import { ACCOUNT_TYPE_OFFSET, MULTISIG_BYTES } from './token-state.ts';

/** One extension of a Token-2022 mint or account: its type number and its bytes (a view). */
export type Extension = readonly [type: number, value: Uint8Array];

/** Type 0 marks the unused rest of the account. */
const UNINITIALIZED = 0;

/** The highest type there is: `PermissionedBurn`. Source: spl-token-2022-interface, `ExtensionType`. */
export const LAST_EXTENSION_TYPE = 28;

/** What stands behind the type byte; nothing when the account has none. */
function tlvData(data: Uint8Array): ByteReader | null {
  if (data.length <= ACCOUNT_TYPE_OFFSET + 1 || data.length === MULTISIG_BYTES) return null;
  return new ByteReader(data.subarray(ACCOUNT_TYPE_OFFSET + 1));
}

/**
 * The extensions of a Token-2022 mint or token account, in the order in which they stand. Each is a 2-byte
 * type, a 2-byte length and the value. When one is of no known type or runs past the end, there is none at all.
 * Source: spl-token-2022-interface, `extension::get_tlv_data_info`.
 */
export function readExtensions(data: Uint8Array): Extension[] {
  const extensions: Extension[] = [];
  const reader = tlvData(data);
  // One byte that is left over may come from an account that grew.
  while (reader !== null && reader.remaining >= 2) {
    const type = reader.u16();
    if (type === UNINITIALIZED) break;
    const length = type <= LAST_EXTENSION_TYPE && reader.remaining >= 2 ? reader.u16() : null;
    if (length === null || length > reader.remaining) return [];
    extensions.push([type, reader.bytes(length)]);
  }
  return extensions;
}

/**
 * The bytes of the first extension of a type, whatever stands behind it; null when there is none.
 * Source: spl-token-2022-interface, `extension::get_extension_indices`.
 */
export function findExtension(data: Uint8Array, wanted: number): Uint8Array | null {
  const reader = tlvData(data);
  while (reader !== null && reader.remaining >= 4) {
    const type = reader.u16();
    const length = reader.u16();
    if (type === UNINITIALIZED || length > reader.remaining) return null;
    const value = reader.bytes(length);
    if (type === wanted) return value;
  }
  return null;
}
