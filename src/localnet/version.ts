/** The Agave release whose surface the embedded ledger shows; `apiVersion` of every context. */
export const VERSION = '4.1.0';

/**
 * First four bytes of the feature set's hash, little-endian, as `getVersion` and gossip show it: what nodes of
 * mainnet-beta on 4.1.0 answer.
 */
export const FEATURE_SET = 3_345_198_602;
