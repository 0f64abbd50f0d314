import { type ByteReader, readOrNull } from '../../base/bytes.ts';
import { findExtension } from './extensions.ts';
import { decodeMint } from './mint.ts';

/**
 * A mint whose amounts grow by interest. Rates are i16 basis points a year, times i64 Unix seconds.
 * Source: spl-token-2022-interface, `InterestBearingConfig`.
 */
export type InterestBearingConfig = Readonly<{
  initializationTimestamp: bigint;
  preUpdateAverageRate: number;
  lastUpdateTimestamp: bigint;
  currentRate: number;
}>;

/**
 * A mint whose amounts are shown multiplied, from a Unix second on by another number.
 * Source: spl-token-2022-interface, `ScaledUiAmountConfig`.
 */
export type ScaledUiAmountConfig = Readonly<{
  multiplier: number;
  newMultiplierEffectiveTimestamp: bigint;
  newMultiplier: number;
}>;

/** What of a mint says how an amount of it is shown. A mint of the Token program has its decimals only. */
export type MintScale = Readonly<{
  decimals: number;
  interestBearing?: InterestBearingConfig;
  scaledUiAmount?: ScaledUiAmountConfig;
}>;

const INTEREST_BEARING = 10;
const SCALED_UI_AMOUNT = 25;
const AUTHORITY_BYTES = 32;

const i16 = (data: ByteReader): number => (data.u16() << 16) >> 16;

/** Reads an extension whose size must be exactly what is read; undefined when there is none like it. */
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

/**
 * How amounts of a mint are shown.
 *
 * @param data of the mint's account
 * @returns null when it is no initialized mint
 * @see rpc/src/parsed_token_accounts.rs, `get_additional_mint_data`
 */
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
