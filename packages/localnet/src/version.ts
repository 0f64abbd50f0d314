/** Emulated Agave release; `apiVersion` of every context. */
export const VERSION = '4.2.1';

/**
 * First four bytes of the feature set hash, little-endian, as in `getVersion` and gossip of that release.
 * Source: SHA-256 over the sorted ids of agave feature-set/src/lib.rs, `FEATURE_NAMES`.
 */
export const FEATURE_SET = 565_236_538;
