import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Lamports, lamports } from '../units.ts';

export const RENT_BYTES = 17;
/** What an account costs before its first byte of data. */
const ACCOUNT_OVERHEAD_BYTES = 128n;

/** Source: solana-rent, `Rent`. */
export type RentSysvar = Readonly<{
  lamportsPerByteYear: bigint;
  /** Years of rent that make an account exempt. */
  exemptionThreshold: number;
  /** Percent, 0 to 100. */
  burnPercent: number;
}>;

export const DEFAULT_RENT: RentSysvar = {
  lamportsPerByteYear: 3480n,
  exemptionThreshold: 2,
  burnPercent: 50,
};

export function encodeRent(rent: RentSysvar): Uint8Array {
  return new ByteWriter(RENT_BYTES)
    .u64(rent.lamportsPerByteYear)
    .f64(rent.exemptionThreshold)
    .u8(rent.burnPercent)
    .finish();
}

/** @returns null when the data is too short. */
export function decodeRent(data: Uint8Array): RentSysvar | null {
  return readOrNull(data, (reader) => ({
    lamportsPerByteYear: reader.u64(),
    exemptionThreshold: reader.f64(),
    burnPercent: reader.u8(),
  }));
}

/**
 * The balance that keeps an account of `dataLength` bytes. Source: solana-rent, `Rent::minimum_balance`.
 */
export function minimumBalance(rent: RentSysvar, dataLength: number): Lamports {
  const yearly = (ACCOUNT_OVERHEAD_BYTES + BigInt(dataLength)) * rent.lamportsPerByteYear;
  const whole = Number.isInteger(rent.exemptionThreshold);
  return lamports(
    whole
      ? yearly * BigInt(rent.exemptionThreshold)
      : BigInt(Math.trunc(Number(yearly) * rent.exemptionThreshold)),
  );
}
