import { existsSync } from 'node:fs';
import type { Network } from '../protocol/call.ts';
import type { CamelNames } from './camel-case.ts';
import type { Problem, SourceOf } from './errors.ts';
import type { RawConfiguration } from './schema.ts';

/** What is looked at of a configuration that is complete. */
type CompleteConfiguration = CamelNames<
  Pick<
    RawConfiguration,
    | ('networks' | 'server' | 'grpc' | 'rest' | 'confirmations' | 'storage' | 'uploads')
    | ('kubo' | 'mail' | 'pinning')
  >
> &
  Readonly<{
    upstreams: readonly Readonly<{
      name: string;
      network: Network;
      requestsPerSecond?: number | null;
      requestsBurst?: number | null;
    }>[];
    senders: readonly Readonly<{ name: string }>[];
    upstreamPool: Readonly<{
      attemptTimeoutMs: number;
      timeoutMs: number;
      hedgeMinMs: number;
      hedgeMaxMs: number;
    }>;
    offChain: Readonly<{ tryTimeoutMs: number; timeoutMs: number }>;
    dasPool: Readonly<{ tryTimeoutMs: number; timeoutMs: number }>;
    semiWallets: Readonly<{ rememberMs: number; pauseMaxMs: number }>;
  }>;

/** Notes that a field is wrong, and what to do about it. */
type Add = (field: string, message: string) => void;

function checkNodes({ upstreams, networks }: CompleteConfiguration, add: Add): void {
  upstreams.forEach(({ name }, index) => {
    const first = upstreams.findIndex((other) => other.name === name);
    if (first < index) {
      add(`upstream[${index}].name`, `"${name}" is also the name of upstream[${first}]: give each its own`);
    }
  });
  upstreams.forEach(({ requestsPerSecond, requestsBurst }, index) => {
    if (requestsBurst == null || requestsPerSecond != null) return;
    add(`upstream[${index}].requests_burst`, 'stands alone: give requests_per_second too');
  });
  const onDefault = upstreams.filter(({ network }) => network === networks.default).length;
  if (upstreams.length > 0 && onDefault === 0) {
    const reason = `is "${networks.default}", for which there is no [[upstream]]`;
    const network = upstreams[0]?.network;
    add(
      'networks.default',
      `${reason}: name the network of a node, as in networks.default = "${network}" or SOLWAY_NETWORK=${network}`,
    );
  }
}

/** Attempts are told by these names. */
function checkSenders({ senders, upstreams }: CompleteConfiguration, add: Add): void {
  senders.forEach(({ name }, index) => {
    const isNode = upstreams.some((node) => node.name === name);
    const isTwice = senders.findIndex((other) => other.name === name) < index;
    if (!isNode && !isTwice) return;
    const other = isNode ? 'an [[upstream]]' : 'another [[sender]]';
    add(`sender[${index}].name`, `"${name}" is also the name of ${other}: give each its own`);
  });
}

function checkCertificate({ grpc, server: { tls } }: CompleteConfiguration, add: Add): void {
  for (const [field, file] of Object.entries({ cert_file: tls?.certFile, key_file: tls?.keyFile })) {
    if (file !== undefined && !existsSync(file))
      add(`server.tls.${field}`, `${file} does not exist: write where it is`);
  }
  if ((grpc.tlsCert === null) !== (grpc.tlsKey === null)) {
    const [given, missing] = grpc.tlsCert === null ? ['tls_key', 'tls_cert'] : ['tls_cert', 'tls_key'];
    add(`grpc.${given}`, `stands alone: name the file of its ${missing} too`);
  }
  if (grpc.enabled && grpc.tlsCert !== null && grpc.tlsKey !== null) {
    for (const [field, file] of Object.entries({ tls_cert: grpc.tlsCert, tls_key: grpc.tlsKey })) {
      if (!existsSync(file)) add(`grpc.${field}`, `${file} does not exist: write where it is`);
    }
  }
}

function checkStorage({ kubo, pinning, storage }: CompleteConfiguration, add: Add): void {
  if ((pinning.url === null) !== (pinning.token === null)) {
    const [given, missing] = pinning.url === null ? ['token', 'url'] : ['url', 'token'];
    add(`pinning.${given}`, `stands alone: give ${missing} too`);
  }
  if (kubo.url !== null && pinning.url !== null) {
    add('pinning.url', 'stands beside kubo.url: the one keeps files in its own store, leave the other out');
  }
  if (kubo.url !== null && storage.gateway === null) {
    const reason =
      'stands without storage.gateway, and files that a node of Kubo keeps are not given out here';
    add('kubo.url', `${reason}: name the gateway of the node, as in storage.gateway = "https://host/ipfs/"`);
  }
}

function checkMail({ mail }: CompleteConfiguration, add: Add): void {
  if ((mail.smtpUrl === null) === (mail.from === null)) return;
  const [given, missing] = mail.smtpUrl === null ? ['from', 'smtp_url'] : ['smtp_url', 'from'];
  add(`mail.${given}`, `stands alone: give ${missing} too`);
}

/** Times that are part of others. */
function checkTimes(configuration: CompleteConfiguration, add: Add): void {
  const { upstreamPool, offChain, dasPool, confirmations, rest, uploads, server } = configuration;
  const within = (field: string, ms: number, whole: string, wholeMs: number): void => {
    if (ms > wholeMs) add(field, `is longer than ${whole}: make it shorter`);
  };
  const { uploadMaxMs } = uploads;
  const { attemptTimeoutMs, timeoutMs, hedgeMinMs, hedgeMaxMs } = upstreamPool;
  within('upstream_pool.attempt_timeout_ms', attemptTimeoutMs, 'timeout_ms', timeoutMs);
  within('upstream_pool.hedge_min_ms', hedgeMinMs, 'hedge_max_ms', hedgeMaxMs);
  within('off_chain.try_timeout_ms', offChain.tryTimeoutMs, 'timeout_ms', offChain.timeoutMs);
  within('das_pool.try_timeout_ms', dasPool.tryTimeoutMs, 'timeout_ms', dasPool.timeoutMs);
  within('confirmations.wait_max_ms', confirmations.waitMaxMs, 'rest.timeout_ms', rest.timeoutMs);
  within('uploads.upload_max_ms', uploadMaxMs, 'rest.upload_timeout_ms', rest.uploadTimeoutMs);
  within('uploads.upload_max_ms', uploadMaxMs, 'server.own_time_max_ms', server.ownTimeMaxMs);
}

function checkPauses({ semiWallets }: CompleteConfiguration, add: Add): void {
  if (semiWallets.rememberMs < semiWallets.pauseMaxMs) {
    add(
      'semi_wallets.remember_ms',
      'is shorter than pause_max_ms, which would end pauses early: make it longer',
    );
  }
}

/** Mistakes that no single field shows: what cannot stand together. */
export function crossCheck(configuration: CompleteConfiguration, sourceOf: SourceOf): Problem[] {
  const problems: Problem[] = [];
  const add: Add = (field, message) => problems.push({ ...sourceOf(field), message });
  checkNodes(configuration, add);
  checkSenders(configuration, add);
  checkTimes(configuration, add);
  checkStorage(configuration, add);
  checkCertificate(configuration, add);
  checkPauses(configuration, add);
  checkMail(configuration, add);
  return problems;
}
