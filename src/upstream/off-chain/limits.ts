/** Times in milliseconds, sizes in bytes. */
export const offChainLimits = {
  /** Per read, including waits, redirects, gateways and retries. */
  timeoutMs: 5_000,
  /** Per exchange, from DNS to the last byte. */
  tryTimeoutMs: 3_000,
  /** Maximum attempts per exchange if connections break. */
  triesMax: 2,
  connectTimeoutMs: 2_000,
  /** Per DNS query attempt; each query is tried at most twice. */
  resolveTimeoutMs: 1_000,
  /** How long a connection may be idle before it is closed. */
  idleTimeoutMs: 4_000,
  redirectsMax: 3,
  /** In characters. */
  uriMaxLength: 2_048,
  /** Distinct URIs per read; further URIs are skipped. */
  urisMax: 2_000,
  /** Limits the compressed and the decompressed size; also applies to `data:` URIs. */
  documentMaxBytes: 256 * 1024,
  /** Total size of all documents in one read. */
  readingMaxBytes: 32 * 1024 * 1024,
  depthMax: 32,
  /** Members and elements per document. */
  valuesMax: 20_000,
  headersMaxBytes: 16 * 1024,
  inFlightMax: 256,
  /** Exchanges in flight per proven host, which is a host whose last exchange succeeded. */
  perHostMax: 16,
  /** Exchanges in flight per unproven host. Low, so that many slow hosts cannot use all permits. */
  unprovenPerHostMax: 2,
  /** Maximum queued fetches; further fetches are skipped. */
  queueMax: 20_000,
  perHostQueueMax: 2_000,
  unprovenPerHostQueueMax: 150,
  /** Maximum hosts with a health record. */
  hostsMax: 10_000,
  circuitFailuresMax: 3,
  /** How long the circuit stays open the first time. Each reopening doubles the time, up to 8 × this value. */
  circuitOpenMs: 5_000,
  /** An aborted exchange counts as a failure of the host if it lasted at least this long. */
  slowMs: 1_500,
  documentTtlMs: 24 * 3_600_000,
  /** How long a document is cached as absent (404, not JSON, forbidden address). */
  absenceTtlMs: 10 * 60_000,
  failureTtlMs: 20_000,
  memoryMaxBytes: 32 * 1024 * 1024,
  diskMaxBytes: 512 * 1024 * 1024,
  diskFilesMax: 100_000,
  /** Maximum queued file writes; further documents stay in memory only. */
  diskQueueMax: 256,
};

export type OffChainLimits = Readonly<typeof offChainLimits>;

/** The operator's rules for off-chain JSON. */
export const offChainRules = {
  /** Private or special networks to allow, in CIDR notation. */
  allowedNetworks: [] as readonly string[],
  ports: [80, 443] as readonly number[],
  /** URL prefixes ending in `/`; the first gateway that has the file is used. */
  ipfsGateways: ['https://ipfs.io/ipfs/', 'https://dweb.link/ipfs/'] as readonly string[],
  /** URL prefixes for `ar://`, ending in `/`. */
  arweaveGateways: ['https://arweave.net/'] as readonly string[],
};

export type OffChainRules = Readonly<typeof offChainRules>;
