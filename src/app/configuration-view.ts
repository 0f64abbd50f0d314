import { describePostgres } from '../control/database/open.ts';
import type { Configuration, UpstreamConfiguration } from './configuration.ts';
import { showUrl } from './configuration-secrets.ts';

function showUpstream(node: UpstreamConfiguration) {
  return {
    ...node,
    url: showUrl(node.url),
    ws: node.ws === null ? null : showUrl(node.ws),
    grpc: node.grpc === null ? null : showUrl(node.grpc),
    headers: Object.fromEntries(Object.keys(node.headers).map((name) => [name, '[redacted]'])),
  };
}

/** The configuration without its secrets, fit for a terminal or a log. */
export function showConfiguration(configuration: Configuration) {
  const { databaseUrl } = configuration.store;
  return {
    ...configuration,
    upstreams: configuration.upstreams.map(showUpstream),
    store: {
      ...configuration.store,
      databaseUrl: databaseUrl === null ? null : describePostgres(databaseUrl),
    },
  };
}
