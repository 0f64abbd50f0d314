import type { Brand } from '../base/brand.ts';

/** A slot number, u64. */
export type Slot = Brand<bigint, 'Slot'>;

/** An amount of lamports, u64. 1 SOL = 1,000,000,000 lamports. */
export type Lamports = Brand<bigint, 'Lamports'>;

export const LAMPORTS_PER_SOL = 1_000_000_000n;

/** An epoch number, u64. */
export type Epoch = Brand<bigint, 'Epoch'>;

/** Names a u64 as a slot; the caller vouches for the range. */
export const slot = (value: bigint | number): Slot => BigInt(value) as Slot;

/** Names a u64 as lamports; the caller vouches for the range. */
export const lamports = (value: bigint | number): Lamports => BigInt(value) as Lamports;

/** Names a u64 as an epoch; the caller vouches for the range. */
export const epoch = (value: bigint | number): Epoch => BigInt(value) as Epoch;

export const U64_MAX = 0xffff_ffff_ffff_ffffn;
