import { ByteReader } from '../../base/bytes.ts';
import { ACCOUNT_TYPE_OFFSET, MULTISIG_BYTES } from './token-state.ts';

/** One extension of a Token-2022 mint or account: its type number and its bytes (a view). */
export type Extension = readonly [type: number, value: Uint8Array];

/** Type 0 marks the unused rest of the account. */
const UNINITIALIZED = 0;

/**
 * The extensions of a Token-2022 mint or token account, in the order in which they stand. Each is a 2-byte
 * type, a 2-byte length and the value. An entry that runs past the end is left out, with all behind it.
 * Source: spl-token-2022, `extension::get_tlv_data_info`.
 */
export function readExtensions(data: Uint8Array): Extension[] {
  const extensions: Extension[] = [];
  if (data.length <= ACCOUNT_TYPE_OFFSET + 1 || data.length === MULTISIG_BYTES) return extensions;
  const reader = new ByteReader(data.subarray(ACCOUNT_TYPE_OFFSET + 1));
  while (reader.remaining >= 4) {
    const type = reader.u16();
    const length = reader.u16();
    if (type === UNINITIALIZED || length > reader.remaining) break;
    extensions.push([type, reader.bytes(length)]);
  }
  return extensions;
}
