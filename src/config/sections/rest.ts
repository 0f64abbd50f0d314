import { z } from 'zod';
import { semiWalletLimits as wallets } from '../../control/semi-wallets/key-derivation.ts';
import { storageLimits as storage } from '../../control/storage/file-store.ts';
import { pinningServiceLimits as pinning } from '../../control/storage/pinning-backend.ts';
import {
  storageServiceLimits as kubo,
  type StorageServiceLimits,
} from '../../control/storage/storage-service.ts';
import { confirmationLimits as confirmation } from '../../gateway/rest/confirmations.ts';
import { restLimits as rest } from '../../gateway/rest/rest-gateway.ts';
import { ipfsServerOptions as ipfs } from '../../servers/ipfs/server.ts';
import { uploadLimits as upload } from '../../servers/rest/multipart.ts';
import { restServerOptions as server } from '../../servers/rest/server.ts';
import { dasLimits as das } from '../../upstream/das/das-client.ts';
import { AddressRules } from '../../upstream/off-chain/address-rules.ts';
import { offChainLimits as chain, offChainRules as rules } from '../../upstream/off-chain/limits.ts';
import { anything, HOUR_MS, httpUrl, list, MIB, section, text, whole } from '../field-types.ts';
import { showValue } from '../secrets.ts';
import { namedServers } from './named-servers.ts';

/** The sections of the REST interface and of what it stands on. */

const DAY_MS = 24 * HOUR_MS;
const GIB = 1_024 * MIB;

/** `[rest]`: the door of the REST interface, and what its answers are like. */
export const restSection = section({
  requests_per_minute: whole(1, 10_000_000).default(rest.requestsPerMinute),
  key_in_flight_max: whole(1, 1_000_000).default(rest.keyInFlightMax),
  calls_in_flight_max: whole(1, 1_000_000).default(rest.callsInFlightMax),
  key_calls_in_flight_max: whole(1, 1_000_000).default(rest.keyCallsInFlightMax),
  answer_max_bytes: whole(1_024, 2_047 * MIB).default(rest.answerMaxBytes),
  answers_max_bytes: whole(1_024, 64 * GIB).default(rest.answersMaxBytes),
  timeout_ms: whole(100, HOUR_MS).default(rest.timeoutMs),
  upload_timeout_ms: whole(100, DAY_MS).default(rest.uploadTimeoutMs),
  families_max: whole(1, 10_000_000).default(rest.familiesMax),
  body_max_bytes: whole(1_024, 256 * MIB).default(server.bodyMaxBytes),
  bodies_max_bytes: whole(MIB, 64 * GIB).default(server.bodiesMaxBytes),
  history_days: whole(1, 36_500).default(4),
  domain_suffix: text(/^\.[a-z0-9-]{1,32}$/, 'a dot and a name, such as ".sol"').default('.sol'),
  token_list: anything.nullable().default(null),
});

function isNetwork(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    new AddressRules([value]);
    return true;
  } catch {
    return false;
  }
}

/** A network that may be connected to besides the public internet. */
export const connectableNetwork = z.custom<string>(isNetwork, {
  error: ({ input }) => `${showValue(input)} must be a network such as "10.0.0.0/8" or "fd00::/8"`,
});

/** A gateway's address, to which a name is added. */
const gateway = z.custom<string>((value) => httpUrl.safeParse(value).success && String(value).endsWith('/'), {
  error: ({ input }) => `${showValue(input)} must be a URL that ends in "/", as in "https://host/ipfs/"`,
});

/** `[off_chain]`: how JSON is fetched that tokens point at. */
export const offChainSection = section({
  allow_networks: list(connectableNetwork, 256, 'allow_networks = ["10.0.0.0/8"]', rules.allowedNetworks),
  ports: list(whole(1, 65_535), 64, 'ports = [80, 443]', rules.ports),
  ipfs_gateways: list(gateway, 16, 'ipfs_gateways = ["https://host/ipfs/"]', rules.ipfsGateways),
  arweave_gateways: list(gateway, 16, 'arweave_gateways = ["https://host/"]', rules.arweaveGateways),
  timeout_ms: whole(100, HOUR_MS).default(chain.timeoutMs),
  try_timeout_ms: whole(50, HOUR_MS).default(chain.tryTimeoutMs),
  tries_max: whole(1, 10).default(chain.triesMax),
  connect_timeout_ms: whole(50, 60_000).default(chain.connectTimeoutMs),
  resolve_timeout_ms: whole(50, 60_000).default(chain.resolveTimeoutMs),
  idle_timeout_ms: whole(0, HOUR_MS).default(chain.idleTimeoutMs),
  redirects_max: whole(0, 20).default(chain.redirectsMax),
  uri_max_length: whole(64, 65_536).default(chain.uriMaxLength),
  uris_max: whole(1, 1_000_000).default(chain.urisMax),
  document_max_bytes: whole(1_024, 256 * MIB).default(chain.documentMaxBytes),
  reading_max_bytes: whole(1_024, GIB).default(chain.readingMaxBytes),
  depth_max: whole(1, 1_000).default(chain.depthMax),
  values_max: whole(1, 10_000_000).default(chain.valuesMax),
  headers_max_bytes: whole(1_024, MIB).default(chain.headersMaxBytes),
  in_flight_max: whole(1, 100_000).default(chain.inFlightMax),
  per_host_max: whole(1, 10_000).default(chain.perHostMax),
  unproven_per_host_max: whole(1, 10_000).default(chain.unprovenPerHostMax),
  queue_max: whole(0, 10_000_000).default(chain.queueMax),
  per_host_queue_max: whole(0, 10_000_000).default(chain.perHostQueueMax),
  unproven_per_host_queue_max: whole(0, 10_000_000).default(chain.unprovenPerHostQueueMax),
  hosts_max: whole(1, 10_000_000).default(chain.hostsMax),
  circuit_failures_max: whole(1, 1_000).default(chain.circuitFailuresMax),
  circuit_open_ms: whole(1, HOUR_MS).default(chain.circuitOpenMs),
  slow_ms: whole(1, HOUR_MS).default(chain.slowMs),
  document_kept_ms: whole(0, 3_650 * DAY_MS).default(chain.documentKeptMs),
  absence_kept_ms: whole(0, 3_650 * DAY_MS).default(chain.absenceKeptMs),
  failure_kept_ms: whole(0, DAY_MS).default(chain.failureKeptMs),
  memory_max_bytes: whole(0, 64 * GIB).default(chain.memoryMaxBytes),
  disk_max_bytes: whole(0, 1_024 * GIB).default(chain.diskMaxBytes),
  disk_files_max: whole(0, 100_000_000).default(chain.diskFilesMax),
  disk_queue_max: whole(1, 100_000).default(chain.diskQueueMax),
});

/** `[storage]`: files that customers store. */
export const storageSection = section({
  gateway: gateway.nullable().default(null),
  file_max_bytes: whole(1_024, 1_024 * GIB).default(storage.fileMaxBytes),
  total_max_bytes: whole(1_024, 1_048_576 * GIB).default(storage.totalMaxBytes),
  files_max: whole(1, 1_000_000_000).default(storage.filesMax),
  uploads_max: whole(1, 100_000).default(storage.uploadsMax),
  uploads_per_owner_max: whole(1, 100_000).default(storage.uploadsPerOwnerMax),
  uploads_waiting_max: whole(0, 100_000).default(storage.uploadsWaitingMax),
  uploads_wait_ms: whole(0, HOUR_MS).default(storage.uploadsWaitMs),
});

/** `[uploads]`: how bodies with a file come in. */
export const uploadsSection = section({
  beside_max_bytes: whole(1_024, GIB).default(upload.besideMaxBytes),
  parts_max: whole(1, 100_000).default(upload.partsMax),
  part_headers_max: whole(1, 10_000).default(upload.partHeadersMax),
  part_headers_max_bytes: whole(128, MIB).default(upload.partHeadersMaxBytes),
  progress_ms: whole(100, HOUR_MS).default(upload.progressMs),
  progress_least_bytes: whole(1, GIB).default(upload.progressLeastBytes),
  upload_max_ms: whole(100, DAY_MS).default(upload.uploadMaxMs),
});

/** `[ipfs]`: the gateway to stored files. */
export const ipfsSection = section({
  open_max: whole(1, 100_000).default(ipfs.openMax),
  open_per_address_max: whole(1, 100_000).default(ipfs.openPerAddressMax),
  progress_ms: whole(100, HOUR_MS).default(ipfs.progressMs),
  progress_least_bytes: whole(1, GIB).default(ipfs.progressLeastBytes),
  answer_max_ms: whole(100, DAY_MS).default(ipfs.answerMaxMs),
});

/** What can be set of any service that stores files. */
const storageServiceFields = (limits: StorageServiceLimits) => ({
  connect_timeout_ms: whole(50, 60_000).default(limits.connectTimeoutMs),
  exchange_max_ms: whole(100, DAY_MS).default(limits.exchangeMaxMs),
  silence_ms: whole(100, HOUR_MS).default(limits.silenceMs),
  answer_max_bytes: whole(1_024, 256 * MIB).default(limits.answerMaxBytes),
  connections_max: whole(1, 10_000).default(limits.connectionsMax),
});

/** `[kubo]`: a Kubo node that keeps the files. */
export const kuboSection = section({
  url: httpUrl.nullable().default(null),
  authorization: anything.nullable().default(null),
  ...storageServiceFields(kubo),
});

/** `[pinning]`: a service that pins what is kept here. */
export const pinningSection = section({
  url: httpUrl.nullable().default(null),
  token: anything.nullable().default(null),
  origins: list(anything, 20, 'origins = ["/dns4/files.example.com/tcp/4001/p2p/…"]', []),
  ...storageServiceFields(pinning),
  poll_interval_ms: whole(100, DAY_MS).default(pinning.pollIntervalMs),
  polls_max: whole(1, 1_000_000).default(pinning.pollsMax),
  retries_max: whole(0, 1_000).default(pinning.retriesMax),
  watched_max: whole(1, 1_000_000).default(pinning.watchedMax),
});

/** `[semi_wallets]`: keypairs that are kept under their owners' passwords. */
export const semiWalletsSection = section({
  iterations: whole(600_000, 100_000_000).default(wallets.iterations),
  derivations_max: whole(1, 64).default(wallets.derivationsMax),
  derivations_per_owner_max: whole(1, 64).default(wallets.derivationsPerOwnerMax),
  derivation_queue_max: whole(0, 100_000).default(wallets.derivationQueueMax),
  derivation_per_owner_queue_max: whole(0, 100_000).default(wallets.derivationPerOwnerQueueMax),
  wallets_max: whole(0, 100_000_000).default(wallets.walletsMax),
  free_tries: whole(1, 1_000).default(wallets.freeTries),
  first_pause_ms: whole(1, HOUR_MS).default(wallets.firstPauseMs),
  pause_max_ms: whole(1, DAY_MS).default(wallets.pauseMaxMs),
  remember_ms: whole(1, 30 * DAY_MS).default(wallets.rememberMs),
  remembered_max: whole(1, 100_000_000).default(wallets.rememberedMax),
});

/** `[confirmations]`: how transactions that were sent are waited for. */
export const confirmationsSection = section({
  wait_max_ms: whole(100, HOUR_MS).default(confirmation.waitMaxMs),
  waiters_max: whole(1, 10_000_000).default(confirmation.waitersMax),
  poll_ms: whole(10, HOUR_MS).default(confirmation.pollMs),
  subscribed_poll_ms: whole(10, HOUR_MS).default(confirmation.subscribedPollMs),
  expiry_poll_ms: whole(10, HOUR_MS).default(confirmation.expiryPollMs),
  calls_at_a_time: whole(1, 1_000).default(confirmation.callsAtATime),
});

/** `[das_pool]`: how servers of the Digital Asset Standard API are asked. */
export const dasPoolSection = section({
  timeout_ms: whole(100, HOUR_MS).default(das.timeoutMs),
  try_timeout_ms: whole(50, HOUR_MS).default(das.tryTimeoutMs),
  connect_timeout_ms: whole(50, 60_000).default(das.connectTimeoutMs),
  answer_max_bytes: whole(1_024, 2_047 * MIB).default(das.answerMaxBytes),
  connections_max: whole(1, 100_000).default(das.connectionsMax),
  in_flight_max: whole(1, 1_000_000).default(das.inFlightMax),
});

/** `[[das]]`: servers of the Digital Asset Standard API. */
export const dasServers = namedServers('das', 'server');
