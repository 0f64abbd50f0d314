import type { Brand } from '../base/brand.ts';

/** u64. */
export type Slot = Brand<bigint, 'Slot'>;

/** u64. 1 SOL = 1,000,000,000 lamports. */
export type Lamports = Brand<bigint, 'Lamports'>;

export const LAMPORTS_PER_SOL = 1_000_000_000n;

/** u64. */
export type Epoch = Brand<bigint, 'Epoch'>;

/** Here and below, the caller guarantees that the value is in range. */
export const slot = (value: bigint | number): Slot => BigInt(value) as Slot;

export const lamports = (value: bigint | number): Lamports => BigInt(value) as Lamports;

export const epoch = (value: bigint | number): Epoch => BigInt(value) as Epoch;

export const U64_MAX = 0xffff_ffff_ffff_ffffn;
