import { exp } from '../../base/exp.ts';
import { fixedText } from '../../base/text/float-decimal.ts';

/** Rates are in basis points per year, timestamps in Unix seconds. Source: spl-token-2022-interface. */
export type InterestBearingConfig = Readonly<{
  initializationTimestamp: bigint;
  preUpdateAverageRate: number;
  lastUpdateTimestamp: bigint;
  currentRate: number;
}>;

/** `newMultiplier` applies from its effective time (Unix seconds) on. Source: spl-token-2022-interface. */
export type ScaledUiAmountConfig = Readonly<{
  multiplier: number;
  newMultiplierEffectiveTimestamp: bigint;
  newMultiplier: number;
}>;

export type MintScale = Readonly<{
  decimals: number;
  interestBearing?: InterestBearingConfig;
  scaledUiAmount?: ScaledUiAmountConfig;
}>;

// f64 operations run in the same order as in the token program's library, so that the last digits match.

const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const ONE_IN_BASIS_POINTS = 10_000;

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

/** Squares repeatedly, like num_traits: from 10^23 on, rounding depends on the order of multiplication. */
function powerOfTen(n: number): number {
  if (n === 0) return 1;
  let base = 10;
  let left = n;
  for (; left % 2 === 0; left /= 2) base *= base;
  let product = base;
  for (left = (left - 1) / 2; left > 0; left = Math.floor(left / 2)) {
    base *= base;
    if (left % 2 === 1) product *= base;
  }
  return product;
}

function trimZeros(text: string, decimals: number): string {
  return decimals === 0 ? text : text.replace(/0+$/, '').replace(/\.+$/, '');
}

/** Growth factor of continuously compounded interest; null if the time span overflows an i64. */
function interestFactor(rate: number, from: bigint, to: bigint): number | null {
  const seconds = to - from;
  if (seconds < I64_MIN || seconds > I64_MAX) return null;
  return exp(Number(BigInt(rate) * seconds) / SECONDS_PER_YEAR / ONE_IN_BASIS_POINTS);
}

/**
 * Source: spl-token-2022-interface, `InterestBearingConfig::amount_to_ui_amount`.
 * @returns null if a time span overflows an i64; `inf` or `NaN` if the calculation overflows an f64.
 */
export function interestBearingAmount(
  config: InterestBearingConfig,
  amount: bigint,
  decimals: number,
  unixTimestamp: bigint,
): string | null {
  const { initializationTimestamp, lastUpdateTimestamp } = config;
  const before = interestFactor(config.preUpdateAverageRate, initializationTimestamp, lastUpdateTimestamp);
  const since = interestFactor(config.currentRate, lastUpdateTimestamp, unixTimestamp);
  if (before === null || since === null) return null;
  const scale = (before * since) / powerOfTen(decimals);
  return trimZeros(fixedText(Number(amount) * scale, decimals), decimals);
}

/** Truncates to base units. Source: spl-token-2022-interface 3.1.1, `ScaledUiAmountConfig::amount_to_ui_amount`. */
export function scaledUiAmount(
  config: ScaledUiAmountConfig,
  amount: bigint,
  decimals: number,
  unixTimestamp: bigint,
): string {
  const isNew = unixTimestamp >= config.newMultiplierEffectiveTimestamp;
  const scaled = Number(amount) * (isNew ? config.newMultiplier : config.multiplier);
  return trimZeros(fixedText(Math.trunc(scaled) / powerOfTen(decimals), decimals), decimals);
}
