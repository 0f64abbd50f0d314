import { resolve } from 'node:path';
import type { Plan } from '../control/plans.ts';
import type { Network } from '../protocol/call.ts';
import type { DasServer } from '../upstream/das/das-client.ts';
import type { ShredServer } from '../upstream/shreds/shreds-config.ts';
import type { ConfigurationArguments } from './arguments.ts';
import { type CamelNames, camelNames } from './camel-case.ts';
import { crossCheck } from './cross-checks.ts';
import { ConfigurationError, problemsFrom } from './errors.ts';
import { readLayers, readWrittenLayers } from './layers.ts';
import { configurationSchema, type RawConfiguration, WS_OFF } from './schema.ts';
import type { Environment } from './secrets.ts';
import { websocketUrlOf } from './websocket-url.ts';

/** A node as the configuration names it, complete. `url`, `ws`, `grpc` and `headers` may hold secrets. */
export type UpstreamConfiguration = Readonly<{
  network: Network;
  /** Public name; given or made of network and position. */
  name: string;
  url: string;
  /** As given, else derived from `url`; null for a node without PubSub. */
  ws: string | null;
  grpc: string | null;
  headers: Readonly<Record<string, string>>;
  /** What it may be asked a second, and at once; absent or null: as much as there is to ask. */
  requestsPerSecond?: number | null;
  requestsBurst?: number | null;
  /** Reads that may be sent over one connection before the first is answered; absent: 1. */
  pipelining?: number;
}>;

/** An endpoint that takes transactions only. `url` and `headers` may hold secrets. */
export type SenderConfiguration = Pick<UpstreamConfiguration, 'network' | 'name' | 'url' | 'headers'>;

type Sections = CamelNames<
  Omit<RawConfiguration, 'upstream' | 'sender' | 'plans' | 'grpc' | 'shreds' | 'rest' | 'das'>
>;
type RestSection = CamelNames<RawConfiguration['rest']>;
type GrpcSection = CamelNames<RawConfiguration['grpc']>;
type ShredsSection = CamelNames<RawConfiguration['shreds']>;

/**
 * Everything that can be set, complete with defaults. Field by field described in config/solway.example.toml;
 * names here are those of the file in camelCase.
 */
export type Configuration = Readonly<
  Omit<Sections, 'dataDir'> & {
    /** Absolute path. */
    dataDir: string;
    upstreams: readonly UpstreamConfiguration[];
    senders: readonly SenderConfiguration[];
    /** `host` is that of `server` when nothing else was said; the paths are absolute. */
    grpc: Omit<GrpcSection, 'host'> & Readonly<{ host: string }>;
    /** `tokenList` is an absolute path. */
    rest: RestSection;
    das: readonly DasServer[];
    shreds: Omit<ShredsSection, 'entries' | 'deshred'> &
      Readonly<{ entries: readonly ShredServer[]; deshred: readonly ShredServer[] }>;
    /** Among them always the plan `default`. */
    plans: readonly Plan[];
    /** The file that was read; null when there was none. */
    file: string | null;
  }
>;

function completeUpstreams(raw: RawConfiguration): UpstreamConfiguration[] {
  const counts = new Map<Network, number>();
  return raw.upstream.map((written) => {
    const node = camelNames(written);
    const network = node.network ?? raw.networks.default;
    const nth = (counts.get(network) ?? 0) + 1;
    counts.set(network, nth);
    const ws = node.ws === WS_OFF ? null : (node.ws ?? websocketUrlOf(node.url));
    return { ...node, ws, network, name: node.name ?? `${network}-${nth}` };
  });
}

function completePlans(raw: RawConfiguration): Plan[] {
  return Object.entries(raw.plans).map(([id, { name = id, prices, ...limits }]) => ({
    id,
    name,
    limits: { ...camelNames(limits), prices },
  }));
}

const resolved = (path: string | null): string | null => (path === null ? null : resolve(path));

const completeGrpc = ({ grpc, server }: RawConfiguration): Configuration['grpc'] => ({
  ...camelNames(grpc),
  host: grpc.host ?? server.host,
  tlsCert: resolved(grpc.tls_cert),
  tlsKey: resolved(grpc.tls_key),
});

/** The paths of the certificate are absolute. */
function completeServer({ server }: RawConfiguration): Configuration['server'] {
  const { tls, ...others } = camelNames(server);
  if (tls === null) return { ...others, tls };
  return { ...others, tls: { ...tls, certFile: resolve(tls.certFile), keyFile: resolve(tls.keyFile) } };
}

const completeServers = (servers: RawConfiguration['shreds']['entries'], kind: string): ShredServer[] =>
  servers.map((server, index) => ({ ...server, name: server.name ?? `${kind}-${index + 1}` }));

const completeShreds = ({ shreds }: RawConfiguration): Configuration['shreds'] => ({
  ...camelNames(shreds),
  entries: completeServers(shreds.entries, 'entries'),
  deshred: completeServers(shreds.deshred, 'deshred'),
});

const completeSenders = ({ sender, networks }: RawConfiguration): SenderConfiguration[] =>
  sender.map((endpoint, index) => ({
    ...endpoint,
    network: endpoint.network ?? networks.default,
    name: endpoint.name ?? `sender-${index + 1}`,
  }));

const completeDas = ({ das, networks }: RawConfiguration): DasServer[] =>
  das.map((server, index) => ({
    ...server,
    network: server.network ?? networks.default,
    name: server.name ?? `das-${index + 1}`,
  }));

type Layer = Readonly<Record<string, unknown>>;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Layer)[name] : undefined;

/** The one network that all nodes name is the default one, where none is set. */
function withDefaultNetwork(raw: Layer): Layer {
  const nodes: readonly unknown[] = Array.isArray(raw.upstream) ? raw.upstream : [];
  const [network, ...others] = new Set(nodes.map((node) => memberOf(node, 'network')));
  const isSet = memberOf(raw.networks, 'default') !== undefined;
  if (network === undefined || others.length > 0 || isSet) return raw;
  return { ...raw, networks: { ...(raw.networks as Layer | undefined), default: network } };
}

/**
 * Reads the configuration from file, environment and command line, each over the one before.
 * @throws ConfigurationError naming every field that is wrong and what to write there.
 */
export function loadConfiguration(given: ConfigurationArguments, environment: Environment): Configuration {
  const { raw, file, sourceOf } = readLayers(given, environment);
  const parsed = configurationSchema.safeParse(withDefaultNetwork(raw));
  if (!parsed.success) throw new ConfigurationError(problemsFrom(parsed.error, sourceOf));
  const {
    upstream: _,
    plans: __,
    grpc: ___,
    shreds: ____,
    rest: _____,
    das: ______,
    sender: _______,
    ...sections
  } = parsed.data;
  const configuration: Configuration = {
    ...camelNames(sections),
    dataDir: resolve(parsed.data.data_dir),
    server: completeServer(parsed.data),
    upstreams: completeUpstreams(parsed.data),
    senders: completeSenders(parsed.data),
    grpc: completeGrpc(parsed.data),
    shreds: completeShreds(parsed.data),
    shared: { ...camelNames(parsed.data.shared), tlsCa: resolved(parsed.data.shared.tls_ca) },
    rest: { ...camelNames(parsed.data.rest), tokenList: resolved(parsed.data.rest.token_list) },
    das: completeDas(parsed.data),
    plans: completePlans(parsed.data),
    file,
  };
  const problems = crossCheck(configuration, sourceOf);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configuration;
}

/** The data folder alone, whatever is wrong with the rest of the configuration. @throws ConfigurationError */
export function loadDataDir(given: ConfigurationArguments, environment: Environment): string {
  const { raw, sourceOf } = readWrittenLayers(given, environment);
  const parsed = configurationSchema.pick({ data_dir: true }).safeParse({ data_dir: raw.data_dir });
  if (!parsed.success) throw new ConfigurationError(problemsFrom(parsed.error, sourceOf));
  return resolve(parsed.data.data_dir);
}
