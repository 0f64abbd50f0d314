import { isLoopback } from '../base/ip-address.ts';
import type { Configuration, UpstreamConfiguration } from '../config/configuration.ts';
import { type Environment, environmentFields, INTERNAL_LIMITS_VARIABLE } from '../config/sources.ts';
import { nearestName } from '../config/value-types.ts';
import { methods } from '../protocol/methods.ts';
import { endpointNames } from '../protocol/rest/endpoint-names.ts';

const knownVariables = [
  ...Object.keys(environmentFields),
  ...['SOLWAY_CONFIG', 'SOLWAY_PEPPER', 'SOLWAY_PEPPER_FILE', 'SOLWAY_TOKEN'],
  INTERNAL_LIMITS_VARIABLE,
];

/** Variables that the documentation's code samples use. Samples may run on the same machine as the service. */
const clientVariables = [
  ...['SOLWAY_URL', 'SOLWAY_KEY', 'SOLWAY_WS_URL', 'SOLWAY_BASE_URL'],
  ...['SOLWAY_GRPC_URL', 'SOLWAY_GRPC_KEY', 'SOLWAY_FS_KEY'],
];

/** Reports unknown SOLWAY_ variables, which have no effect, if their names are close to known names. */
export function mistypedVariables(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('SOLWAY_') && ![...knownVariables, ...clientVariables].includes(name))
    .flatMap((name) => {
      const nearest = nearestName(name, knownVariables);
      return nearest === null ? [] : [`${name} has no effect: did you mean ${nearest}?`];
    });
}

export function nodesByNetwork({ upstreams }: Configuration): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { network } of upstreams) counts.set(network, (counts.get(network) ?? 0) + 1);
  return counts;
}

function sendsKeyInClear({ url, headers }: UpstreamConfiguration): boolean {
  const { protocol, hostname, username, pathname, search } = new URL(url);
  if (protocol !== 'http:' || isLoopback(hostname)) return false;
  return Object.keys(headers).length > 0 || username !== '' || pathname !== '/' || search !== '';
}

function nodeWarnings(configuration: Configuration): string[] {
  const { upstreams, quorum } = configuration;
  const warnings: string[] = [];
  if (upstreams.length === 0)
    warnings.push(
      configuration.dev
        ? 'upstream: no node is configured; development mode serves the embedded ledger, a chain of its own'
        : 'upstream: no node is configured; the service starts only with nodes added by "solway upstream add"',
    );
  for (const [network, nodes] of nodesByNetwork(configuration)) {
    if (nodes === 1) warnings.push(`upstream: ${network} has a single node; add another for failover`);
    if (quorum.methods.length > 0 && nodes < quorum.agreementThreshold)
      warnings.push(
        `quorum.agreement_threshold: ${network} has fewer nodes, so its quorum reads fail; add nodes`,
      );
  }
  upstreams.forEach((node, index) => {
    const field = `upstream[${index}]`;
    if (sendsKeyInClear(node))
      warnings.push(`${field}.url: credentials of ${node.name} are sent over http, unencrypted; use https`);
    if (node.ws === null && node.grpc === null)
      warnings.push(`${field}: ${node.name} has neither ws nor grpc, so it feeds no subscriptions`);
  });
  return warnings;
}

const pricedNames = [...Object.keys(methods), ...endpointNames];

/** Unknown names may be methods that only the nodes know, so only a close match is reported. */
function priceWarnings({ plans }: Configuration): string[] {
  return plans.flatMap(({ id, limits }) =>
    Object.keys(limits.prices ?? {}).flatMap((name) => {
      const nearest = pricedNames.includes(name) ? null : nearestName(name, pricedNames);
      return nearest === null ? [] : [`plans.${id}.prices: ${name} is unknown: did you mean ${nearest}?`];
    }),
  );
}

/** Warns if the password of ClickHouse can be read on its way. */
export function clickHouseWarnings({ store }: Pick<Configuration, 'store'>): string[] {
  const { protocol, hostname, password } = new URL(store.clickhouseUrl ?? 'https://unused');
  if (protocol !== 'http:' || isLoopback(hostname) || password === '') return [];
  return ['store.clickhouse_url: the password is sent over http, unencrypted; use https across networks'];
}

/** Warns about valid but unusual settings. Each warning names the option and a remedy. */
export function configurationWarnings(configuration: Configuration, environment: Environment): string[] {
  const { metrics, server } = configuration;
  const warnings = [
    ...mistypedVariables(environment),
    ...nodeWarnings(configuration),
    ...priceWarnings(configuration),
    ...clickHouseWarnings(configuration),
  ];
  if (isLoopback(server.host)) return warnings;
  if (server.tls === null && server.trustedProxies.length === 0)
    warnings.push(
      `server.host: API keys reach ${server.host} unencrypted; set server.tls, or server.trusted_proxies if a proxy terminates TLS`,
    );
  if (metrics.open)
    warnings.push('metrics.open: anyone who can reach the port can read metrics; set metrics.token instead');
  return warnings;
}
