/** Every limit of fetching off-chain JSON. Times in milliseconds, sizes in bytes. */
export type OffChainLimits = Readonly<{
  /** How long one reading may take, with waits, redirects, gateways and tries. A fetch goes on while somebody reads. */
  timeoutMs: number;
  /** How long one HTTP exchange may take, from looking up the host's name to the last byte. */
  tryTimeoutMs: number;
  /** How often an exchange is tried whose connection broke. */
  triesMax: number;
  connectTimeoutMs: number;
  /** How long one question to a name server may take; it is asked twice. */
  resolveTimeoutMs: number;
  /** How long an unused connection is kept. */
  idleTimeoutMs: number;
  redirectsMax: number;
  /** Characters of a web address. */
  uriMaxLength: number;
  /** Different URIs of one reading; those behind them are not loaded. */
  urisMax: number;
  /** A document, as it comes and decompressed; also one inside a `data:` URI. */
  documentMaxBytes: number;
  /** All documents of one reading. */
  readingMaxBytes: number;
  /** Containers inside containers. */
  depthMax: number;
  /** Members and elements in all. */
  valuesMax: number;
  headersMaxBytes: number;
  /** Exchanges under way. */
  inFlightMax: number;
  /** Exchanges under way with one host that answers. */
  perHostMax: number;
  /** The same for a host that has not answered lately: many slow hosts are not to take all places. */
  unprovenPerHostMax: number;
  /** Fetches that wait for a place; what finds no room is not loaded. */
  queueMax: number;
  perHostQueueMax: number;
  /** The same for a host that has not answered lately. */
  unprovenPerHostQueueMax: number;
  /** Hosts whose failures are remembered. */
  hostsMax: number;
  /** Failures in a row after which a host rests. */
  circuitFailuresMax: number;
  /** How long it rests the first time; doubles up to eight times that. */
  circuitOpenMs: number;
  /** A fetch that was given up speaks against its host when the host has had so long. */
  slowMs: number;
  /** How long a document is kept. */
  documentTtlMs: number;
  /** How long it is kept in mind that there is no document: 404, not JSON, an address that is refused. */
  absenceKeptMs: number;
  /** How long it is kept in mind that a fetch failed in a way that passes. */
  failureKeptMs: number;
  memoryMaxBytes: number;
  diskMaxBytes: number;
  diskFilesMax: number;
  /** Files that wait to be written; what finds no room is kept in memory only. */
  diskQueueMax: number;
}>;

/** Limits that suit metadata of tokens: small documents, many hosts, callers who wait. */
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
  absenceKeptMs: 10 * 60_000,
  failureKeptMs: 20_000,
  memoryMaxBytes: 32 * 1024 * 1024,
  diskMaxBytes: 512 * 1024 * 1024,
  diskFilesMax: 100_000,
  diskQueueMax: 256,
};

/** What the operator settles about where off-chain JSON may come from. */
export type OffChainRules = Readonly<{
  /** Networks in CIDR form that may be reached although they are private or special. */
  allowedNetworks: readonly string[];
  /** Ports of web addresses. */
  ports: readonly number[];
  /** What stands before the content identifier; the first that has the file wins. Each ends in `/`. */
  ipfsGateways: readonly string[];
  /** What stands before the transaction's name of `ar://`. Each ends in `/`. */
  arweaveGateways: readonly string[];
}>;

/** Only the public internet, on the web's own ports. */
export const offChainRules: OffChainRules = {
  allowedNetworks: [],
  ports: [80, 443],
  ipfsGateways: ['https://ipfs.io/ipfs/', 'https://dweb.link/ipfs/'],
  arweaveGateways: ['https://arweave.net/'],
};
