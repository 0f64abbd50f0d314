/** Times in milliseconds, sizes in bytes. */
export type OffChainLimits = Readonly<{
  /** Per read, including waits, redirects, gateways and retries. */
  timeoutMs: number;
  /** Per HTTP exchange, from DNS to the last byte. */
  tryTimeoutMs: number;
  /** Attempts per exchange when connections break. */
  triesMax: number;
  connectTimeoutMs: number;
  /** Per DNS query; each is sent twice. */
  resolveTimeoutMs: number;
  /** Idle time of a connection before it is closed. */
  idleTimeoutMs: number;
  redirectsMax: number;
  /** In characters. */
  uriMaxLength: number;
  /** Maximum distinct URIs per read; further ones are skipped. */
  urisMax: number;
  /** Compressed and decompressed size; also of `data:` URIs. */
  documentMaxBytes: number;
  /** All documents of a read. */
  readingMaxBytes: number;
  /** Nesting depth. */
  depthMax: number;
  /** Members and elements. */
  valuesMax: number;
  headersMaxBytes: number;
  inFlightMax: number;
  /** Exchanges in flight per proven host. */
  perHostMax: number;
  /** Per host without a recent success, so that many slow hosts cannot use all permits. */
  unprovenPerHostMax: number;
  /** Maximum queued fetches; further ones are skipped. */
  queueMax: number;
  perHostQueueMax: number;
  /** Queued fetches per host without a recent success. */
  unprovenPerHostQueueMax: number;
  /** Hosts with a health record. */
  hostsMax: number;
  /** Consecutive failures that open a host's circuit. */
  circuitFailuresMax: number;
  /** First open time; doubles up to eight times this. */
  circuitOpenMs: number;
  /** An aborted fetch counts against its host after this time. */
  slowMs: number;
  /** Lifetime of a document. */
  documentTtlMs: number;
  /** Lifetime of a permanent absence: 404, not JSON, forbidden address. */
  absenceTtlMs: number;
  /** Lifetime of a transient failure. */
  failureTtlMs: number;
  memoryMaxBytes: number;
  diskMaxBytes: number;
  diskFilesMax: number;
  /** Maximum queued file writes; further documents stay in memory only. */
  diskQueueMax: number;
}>;

export const offChainLimits: OffChainLimits = {
  timeoutMs: 5_000,
  tryTimeoutMs: 3_000,
  triesMax: 2,
  connectTimeoutMs: 2_000,
  resolveTimeoutMs: 1_000,
  idleTimeoutMs: 4_000,
  redirectsMax: 3,
  uriMaxLength: 2_048,
  urisMax: 2_000,
  documentMaxBytes: 256 * 1024,
  readingMaxBytes: 32 * 1024 * 1024,
  depthMax: 32,
  valuesMax: 20_000,
  headersMaxBytes: 16 * 1024,
  inFlightMax: 256,
  perHostMax: 16,
  unprovenPerHostMax: 2,
  queueMax: 20_000,
  perHostQueueMax: 2_000,
  unprovenPerHostQueueMax: 150,
  hostsMax: 10_000,
  circuitFailuresMax: 3,
  circuitOpenMs: 5_000,
  slowMs: 1_500,
  documentTtlMs: 24 * 3_600_000,
  absenceTtlMs: 10 * 60_000,
  failureTtlMs: 20_000,
  memoryMaxBytes: 32 * 1024 * 1024,
  diskMaxBytes: 512 * 1024 * 1024,
  diskFilesMax: 100_000,
  diskQueueMax: 256,
};

/** Operator's rules for off-chain JSON. */
export type OffChainRules = Readonly<{
  /** CIDR networks allowed although private or special. */
  allowedNetworks: readonly string[];
  ports: readonly number[];
  /** URL prefixes ending in `/`; the first gateway with the file wins. */
  ipfsGateways: readonly string[];
  /** URL prefixes for `ar://`, ending in `/`. */
  arweaveGateways: readonly string[];
}>;

/** Public internet and standard ports only. */
export const offChainRules: OffChainRules = {
  allowedNetworks: [],
  ports: [80, 443],
  ipfsGateways: ['https://ipfs.io/ipfs/', 'https://dweb.link/ipfs/'],
  arweaveGateways: ['https://arweave.net/'],
};
