import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { camelCase } from '../base/camel-case.ts';
import type { Plan } from '../control/plans.ts';
import { isNetworkName, type Network, standardNetworks } from '../protocol/call.ts';
import { ANY_METHOD, patternsOf, readsMatching } from '../protocol/method-patterns.ts';
import type { DasServer } from '../upstream/das/das-client.ts';
import type { ShredServer } from '../upstream/shreds/shreds-config.ts';
import { ConfigurationError, type Problem, problemsFrom, type SourceOf } from './errors.ts';
import { camelNames, schemaOf } from './option.ts';
import { entries, fileSchema, type PlanValues, type SchemaValues, schema } from './schema.ts';
import {
  type ConfigurationArguments,
  type Environment,
  readSources,
  readUnresolvedSources,
} from './sources.ts';
import { isTable, type Table } from './table.ts';
import { INSECURE_URL, isSecureUrl, strictTable, WS_OFF } from './value-types.ts';

/** A node with all its options. `url`, `ws`, `grpc` and `headers` may hold secrets. */
export type UpstreamConfiguration = Omit<SchemaValues['upstream'][number], 'network' | 'name'> &
  Readonly<{ network: Network; name: string }>;

/** An endpoint that accepts only sendTransaction. `url` and `headers` may hold secrets. */
export type SenderConfiguration = Pick<UpstreamConfiguration, 'network' | 'name' | 'url' | 'headers'>;

/** All options and fixed limits by section. Names are as in the file, but in camelCase. Paths are absolute. */
export type Configuration = Readonly<
  Omit<SchemaValues, 'networks' | 'upstream' | 'sender' | 'das' | 'grpc' | 'shreds'> & {
    /** `names`: the standard networks and the custom ones. */
    networks: SchemaValues['networks'] & Readonly<{ names: readonly Network[] }>;
    upstreams: readonly UpstreamConfiguration[];
    senders: readonly SenderConfiguration[];
    das: readonly DasServer[];
    grpc: Omit<SchemaValues['grpc'], 'host'> & Readonly<{ host: string }>;
    shreds: Omit<SchemaValues['shreds'], 'entries' | 'deshred'> &
      Readonly<{ entries: readonly ShredServer[]; deshred: readonly ShredServer[] }>;
    /** Always includes the plan `default`. */
    plans: readonly Plan[];
    /** Path of the configuration file; null if no file was read. */
    file: string | null;
  }
>;

/** Matches a URL up to an explicit port. Groups: everything before the colon, and the port. */
const EXPLICIT_PORT = /^([a-z]+:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^:/?#]*)):(\d{1,5})(?=[/?#]|$)/i;
const PORT_MAX = 65_535;

/**
 * Conventional PubSub URL of a node: the same host, and the next port if the URL has an explicit port. null if the next
 * port would exceed 65535. Source: `makeWebsocketUrl` of @solana/web3.js.
 */
export function websocketUrlOf(url: string): string | null {
  const [whole, before, port] = EXPLICIT_PORT.exec(url) ?? [];
  const next = Number(port) + 1;
  // False if there is no explicit port, because `next` is then NaN.
  if (next > PORT_MAX) return null;
  const withNextPort = whole === undefined ? url : `${before}:${next}${url.slice(whole.length)}`;
  return withNextPort.replace(/^http/i, 'ws');
}

function completeUpstreams(
  nodes: SchemaValues['upstream'],
  defaultNetwork: Network,
): UpstreamConfiguration[] {
  const counts = new Map<Network, number>();
  return nodes.map((node) => {
    const network = node.network ?? defaultNetwork;
    const nth = (counts.get(network) ?? 0) + 1;
    counts.set(network, nth);
    const ws = node.ws === WS_OFF ? null : (node.ws ?? websocketUrlOf(node.url));
    return { ...node, ws, network, name: node.name ?? `${network}-${nth}` };
  });
}

type NamedServer = SchemaValues['sender'][number];

const withNames = <Server extends Readonly<{ name: string | undefined }>>(
  servers: readonly Server[],
  kind: string,
) => servers.map((server, index) => ({ ...server, name: server.name ?? `${kind}-${index + 1}` }));

const completeServers = (servers: readonly NamedServer[], kind: string, defaultNetwork: Network) =>
  withNames(servers, kind).map((server) => ({ ...server, network: server.network ?? defaultNetwork }));

const completePlans = (plans: Readonly<Record<string, PlanValues>>): Plan[] =>
  Object.entries(plans).map(([id, { name = id, billing, ...limits }]) => ({
    ...{ id, name, limits },
    price: billing,
  }));

const resolveOrNull = (path: string | null): string | null => (path === null ? null : resolve(path));

const completeTls = (tls: SchemaValues['server']['tls']): SchemaValues['server']['tls'] =>
  tls && { ...tls, certFile: resolve(tls.certFile), keyFile: resolve(tls.keyFile) };

/** Time allowed for processing a file after its upload. */
const AFTER_UPLOAD_MS = 600_000;

/** Fills in defaults that depend on other options, and makes paths absolute. */
function complete(values: SchemaValues, plans: Configuration['plans'], file: string | null): Configuration {
  const { upstream, sender, ...sections } = values;
  const { das, server, grpc, shreds, geyserSource, rest, shared } = sections;
  const { default: network, custom } = sections.networks;
  const { demand, filtersMax, addressesMax } = sections.geyser;
  const uploadTimeoutMs = Math.max(rest.uploadTimeoutMs, sections.uploads.uploadMaxMs + AFTER_UPLOAD_MS);
  return {
    ...{ ...sections, plans, file },
    dataDir: resolve(values.dataDir),
    networks: { ...sections.networks, names: [...standardNetworks, ...(Object.keys(custom) as Network[])] },
    server: {
      ...server,
      exemptTimeoutMaxMs: Math.max(server.exemptTimeoutMaxMs, uploadTimeoutMs),
      tls: completeTls(server.tls),
    },
    upstreams: completeUpstreams(upstream, network),
    senders: completeServers(sender, 'sender', network),
    das: completeServers(das, 'das', network),
    grpc: {
      ...grpc,
      host: grpc.host ?? server.host,
      tlsCert: resolveOrNull(grpc.tlsCert),
      tlsKey: resolveOrNull(grpc.tlsKey),
    },
    geyserSource: { ...geyserSource, demand, filtersMax, addressesMax },
    shreds: {
      ...shreds,
      entries: withNames(shreds.entries, 'entries'),
      deshred: withNames(shreds.deshred, 'deshred'),
    },
    rest: { ...rest, uploadTimeoutMs, tokenList: resolveOrNull(rest.tokenList) },
    shared: { ...shared, tlsCa: resolveOrNull(shared.tlsCa) },
  };
}

type Add = (field: string, message: string) => void;

function checkNetworks({ networks, upstreams, senders, das }: Configuration, add: Add): void {
  const lists = Object.entries({ upstream: upstreams, sender: senders, das });
  const named = lists.flatMap(([list, servers]) =>
    servers.map(({ network }, index): [string, Network] => [`${list}[${index}].network`, network]),
  );
  // Without a setting, the default follows from the nodes, so it is reported only if no server names it.
  const all = [...named, ['networks.default', networks.default] as const];
  for (const [field, network] of all) {
    if (networks.names.includes(network) || all.find((one) => one[1] === network)?.[0] !== field) continue;
    add(
      field,
      `"${network}" is not one of ${networks.names.join(', ')}: correct it, or add networks.custom = { ${network} = "" }`,
    );
  }
}

function checkNodes({ upstreams, networks, upstreamPool, server }: Configuration, add: Add): void {
  upstreams.forEach(({ name, requestsPerSecond, requestsBurst, weight, region }, index) => {
    if (region !== null && server.region === null)
      add(
        `upstream[${index}].region`,
        'has no effect without server.region: set that to the region of this gateway',
      );
    if (weight > 1 && upstreamPool.loadBalancing === 'sticky')
      add(
        `upstream[${index}].weight`,
        'has no effect with upstream_pool.load_balancing = "sticky", which uses one node: remove one of them',
      );
    const first = upstreams.findIndex((other) => other.name === name);
    if (first < index)
      add(
        `upstream[${index}].name`,
        `"${name}" is also the name of upstream[${first}]: give each a unique name`,
      );
    if (requestsBurst !== null && requestsPerSecond === null)
      add(`upstream[${index}].requests_burst`, 'requires requests_per_second: set both');
  });
  checkMethods(upstreams, add);
  const onDefault = upstreams.filter(({ network }) => network === networks.default).length;
  if (upstreams.length > 0 && onDefault === 0) {
    const reason = `is "${networks.default}", for which there is no [[upstream]]`;
    const network = upstreams[0]?.network;
    add(
      'networks.default',
      `${reason}: set it to the network of a node, for example networks.default = "${network}" or SOLWAY_NETWORK=${network}`,
    );
  }
}

function checkMethods(upstreams: Configuration['upstreams'], add: Add): void {
  for (const [network, nodes] of Map.groupBy(upstreams, (node) => node.network)) {
    if (nodes.some((node) => patternsOf(node).includes(ANY_METHOD))) continue;
    const index = upstreams.findIndex((node) => node.network === network);
    add(
      `upstream[${index}].methods`,
      `no node of ${network} serves the methods that are not listed: add "*" to one, or a node without methods`,
    );
  }
}

/** Names must be unique among nodes and senders: attempts are reported by name. */
function checkSenders({ senders, upstreams }: Configuration, add: Add): void {
  senders.forEach(({ name }, index) => {
    const isNode = upstreams.some((node) => node.name === name);
    const isDuplicate = senders.findIndex((other) => other.name === name) < index;
    if (!isNode && !isDuplicate) return;
    const other = isNode ? 'an [[upstream]]' : 'another [[sender]]';
    add(`sender[${index}].name`, `"${name}" is also the name of ${other}: give each a unique name`);
  });
}

function checkPair(section: string, values: Readonly<Record<string, string | null>>, add: Add): void {
  const [given] = Object.entries(values).find(([, value]) => value !== null) ?? [];
  const [missing] = Object.entries(values).find(([, value]) => value === null) ?? [];
  if (given !== undefined && missing !== undefined)
    add(`${section}.${given}`, `requires ${missing}: set both or neither`);
}

function checkCertificates({ grpc, server: { tls } }: Configuration, add: Add): void {
  const checkFile = (field: string, file: string | null | undefined): void => {
    if (file != null && !existsSync(file)) add(field, `${file} does not exist: correct the path`);
  };
  checkFile('server.tls.cert_file', tls?.certFile);
  checkFile('server.tls.key_file', tls?.keyFile);
  const { enabled, tlsCert, tlsKey } = grpc;
  checkPair('grpc', { tls_cert: tlsCert, tls_key: tlsKey }, add);
  if (!enabled || tlsCert === null || tlsKey === null) return;
  checkFile('grpc.tls_cert', tlsCert);
  checkFile('grpc.tls_key', tlsKey);
}

function checkStorage({ kubo, pinning, storage }: Configuration, add: Add): void {
  checkPair('pinning', { url: pinning.url, token: pinning.token }, add);
  if (kubo.url !== null && pinning.url !== null)
    add('pinning.url', 'cannot be combined with kubo.url: remove one of them');
  if (kubo.url !== null && storage.gateway === null)
    add(
      'kubo.url',
      'requires storage.gateway, because Solway does not serve the files of a Kubo node: ' +
        'set the gateway of the node, as in storage.gateway = "https://host/ipfs/"',
    );
}

function checkQuorum({ quorum: { methods, nodes, agreementThreshold } }: Configuration, add: Add): void {
  methods.forEach((pattern, index) => {
    if (readsMatching([pattern]).size === 0)
      add(
        `quorum.methods[${index}]`,
        `"${pattern}" matches no read: only known reads may go to several nodes`,
      );
  });
  if (agreementThreshold > nodes) add('quorum.agreement_threshold', 'must not exceed quorum.nodes');
}

function checkTimeouts({ upstreamPool }: Configuration, add: Add): void {
  if (upstreamPool.attemptTimeoutMs > upstreamPool.timeoutMs)
    add('upstream_pool.attempt_timeout_ms', 'must not exceed timeout_ms');
}

function checkProviders({ accounts }: Configuration, add: Add): void {
  accounts.oidc.forEach(({ tokenAudience, discoveryUrl }, index) => {
    if (tokenAudience !== null && !isSecureUrl(discoveryUrl))
      add(`accounts.oidc[${index}].discovery_url`, INSECURE_URL);
  });
}

export function crossCheck(configuration: Configuration, sourceOf: SourceOf): Problem[] {
  const problems: Problem[] = [];
  const add: Add = (field, message) => problems.push({ ...sourceOf(field), message });
  checkNetworks(configuration, add);
  checkNodes(configuration, add);
  checkSenders(configuration, add);
  checkTimeouts(configuration, add);
  checkQuorum(configuration, add);
  checkStorage(configuration, add);
  checkProviders(configuration, add);
  checkCertificates(configuration, add);
  checkPair('mail', { smtp_url: configuration.mail.smtpUrl, from: configuration.mail.from }, add);
  return problems;
}

const memberOf = (value: unknown, name: string): unknown => (isTable(value) ? value[name] : undefined);

/** If all nodes are on one network and no default network is set, makes that network the default. */
function withDefaultNetwork(raw: Table): Table {
  const nodes: readonly unknown[] = Array.isArray(raw.upstream) ? raw.upstream : [];
  const [network, ...others] = new Set(nodes.map((node) => memberOf(node, 'network')));
  const isSet = memberOf(raw.networks, 'default') !== undefined;
  if (!isNetworkName(network) || others.length > 0 || isSet) return raw;
  return { ...raw, networks: { ...(raw.networks as Table | undefined), default: network } };
}

type Limits = Readonly<Record<string, Table>>;

/** Fixed limits of each section, with the overrides from [internal]. @throws ConfigurationError */
function internalLimits(overrides: Table, source: string): Limits {
  const problems: Problem[] = [];
  const limits: Record<string, Table> = {};
  for (const [name, entry] of Object.entries(entries))
    if (entry.form === 'section') limits[name] = { ...entry.limits };
  for (const [name, values] of Object.entries(overrides)) {
    const section = limits[name] ?? {};
    const { rows = {} } = (entries[name] ?? {}) as { rows?: object };
    if (!isTable(values)) problems.push({ source, field: `internal.${name}`, message: 'is not a table' });
    else
      for (const [field, value] of Object.entries(values)) {
        const key = camelCase(field);
        if (typeof section[key] === typeof value && !Object.hasOwn(rows, field)) section[key] = value;
        else {
          const message = 'there is no such fixed limit';
          problems.push({ source, field: `internal.${name}.${field}`, message });
        }
      }
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return limits;
}

function valuesOf(parsed: Table, limits: Limits): SchemaValues {
  const values = Object.keys(schema).map((name) => {
    const value = camelNames(parsed[name]);
    return [camelCase(name), name in limits ? { ...limits[name], ...(value as Table | undefined) } : value];
  });
  return Object.fromEntries(values) as SchemaValues;
}

/**
 * Reads the configuration from all its sources, validates it against the schema and cross-checks the options.
 * @throws ConfigurationError with all problems of the first of these steps that fails.
 */
export function loadConfiguration(args: ConfigurationArguments, environment: Environment): Configuration {
  const { raw, file, sourceOf, problems, internal } = readSources(args, environment);
  const parsed = fileSchema.safeParse(withDefaultNetwork(raw));
  const found = [...problems, ...(parsed.success ? [] : problemsFrom(parsed.error, sourceOf))];
  if (!parsed.success || found.length > 0) throw new ConfigurationError(found);
  const data: Table = parsed.data;
  const values = valuesOf(data, internalLimits(internal, file ?? 'configuration'));
  const plans = completePlans(camelNames(data.plans) as Readonly<Record<string, PlanValues>>);
  const configuration = complete(values, plans, file);
  const conflicts = crossCheck(configuration, sourceOf);
  if (conflicts.length > 0) throw new ConfigurationError(conflicts);
  return configuration;
}

/** Reads only the path of the data folder, even if other options are invalid. @throws ConfigurationError */
export function loadDataDir(args: ConfigurationArguments, environment: Environment): string {
  const { raw, sourceOf } = readUnresolvedSources(args, environment);
  const parsed = strictTable({ data_dir: schemaOf(schema.data_dir) }).safeParse({ data_dir: raw.data_dir });
  if (!parsed.success) throw new ConfigurationError(problemsFrom(parsed.error, sourceOf));
  return resolve(String(parsed.data.data_dir));
}
