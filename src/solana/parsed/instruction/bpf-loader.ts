import { readBase64 } from '../bincode.ts';
import { type Variant, variant } from './variant.ts';

/** By u32 discriminant. Source: transaction-status/src/parse_bpf_loader.rs */
export const bpfLoaderVariants: readonly Variant[] = [
  variant('write', ['account'], (data) => ({ offset: data.u32(), bytes: readBase64(data) })),
  // The second account (rent) is required but not named.
  (data, given) => (given.length < 2 ? null : variant('finalize', ['account'])(data, given)),
];
