import { ByteReader } from '../../base/bytes.ts';
import { readOrNull } from '../codec.ts';
import { ACCOUNT_TYPE_OFFSET, decodeMint, MULTISIG_BYTES } from './token-state.ts';
import type { InterestBearingConfig, MintScale, ScaledUiAmountConfig } from './ui-amount.ts';

export type Extension = readonly [type: number, value: Uint8Array];

/** Type 0 marks unused space at the end. */
const UNINITIALIZED = 0;

/** `PermissionedBurn`. Source: spl-token-2022-interface, `ExtensionType`. */
export const LAST_EXTENSION_TYPE = 28;

/** null if there are no extensions. */
function tlvData(data: Uint8Array): ByteReader | null {
  if (data.length <= ACCOUNT_TYPE_OFFSET + 1 || data.length === MULTISIG_BYTES) return null;
  return new ByteReader(data.subarray(ACCOUNT_TYPE_OFFSET + 1));
}

/** Types and lengths are u16. Returns [] if any is unknown or truncated. Source: `extension::get_tlv_data_info`. */
export function readExtensions(data: Uint8Array): Extension[] {
  const extensions: Extension[] = [];
  const reader = tlvData(data);
  // Resizing an account can leave a single byte at the end.
  while (reader !== null && reader.remaining >= 2) {
    const type = reader.u16();
    if (type === UNINITIALIZED) break;
    const length = type <= LAST_EXTENSION_TYPE && reader.remaining >= 2 ? reader.u16() : null;
    if (length === null || length > reader.remaining) return [];
    extensions.push([type, reader.bytes(length)]);
  }
  return extensions;
}

/** Does not check later extensions. Source: spl-token-2022-interface, `extension::get_extension_indices`. */
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

const INTEREST_BEARING = 10;
const SCALED_UI_AMOUNT = 25;
const AUTHORITY_BYTES = 32;

const i16 = (data: ByteReader): number => (data.u16() << 16) >> 16;

/** undefined if the extension is missing or does not have the exact size. */
function readExtension<T>(mint: Uint8Array, type: number, read: (data: ByteReader) => T): T | undefined {
  const value = findExtension(mint, type);
  if (value === null) return undefined;
  const config = readOrNull(value, (data) => {
    data.skipBytes(AUTHORITY_BYTES);
    const found = read(data);
    return data.remaining === 0 ? found : null;
  });
  return config ?? undefined;
}

const interestBearing = (data: ByteReader): InterestBearingConfig => ({
  initializationTimestamp: data.i64(),
  preUpdateAverageRate: i16(data),
  lastUpdateTimestamp: data.i64(),
  currentRate: i16(data),
});

const scaledUiAmount = (data: ByteReader): ScaledUiAmountConfig => ({
  multiplier: data.f64(),
  newMultiplierEffectiveTimestamp: data.i64(),
  newMultiplier: data.f64(),
});

/** Source: rpc/src/parsed_token_accounts.rs, `get_additional_mint_data`. */
export function decodeMintScale(data: Uint8Array): MintScale | null {
  const mint = decodeMint(data);
  if (mint === null) return null;
  const interest = readExtension(data, INTEREST_BEARING, interestBearing);
  const scaled = readExtension(data, SCALED_UI_AMOUNT, scaledUiAmount);
  return {
    decimals: mint.decimals,
    ...(interest && { interestBearing: interest }),
    ...(scaled && { scaledUiAmount: scaled }),
  };
}
