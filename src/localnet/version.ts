/** The Agave release whose surface the embedded ledger shows; `apiVersion` of every context. */
export const VERSION = '4.2.1';

/**
 * First four bytes of the feature set's hash, little-endian, as `getVersion` and gossip show it: what nodes on
 * that release answer. Source: SHA-256 over the sorted ids of agave feature-set/src/lib.rs, `FEATURE_NAMES`.
 */
export const FEATURE_SET = 565_236_538;
