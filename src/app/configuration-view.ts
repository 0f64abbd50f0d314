import { describePostgres } from '../control/database/open.ts';
import type { ShredServer } from '../upstream/shreds/shreds-config.ts';
import type { Configuration, DasServer, UpstreamConfiguration } from './configuration.ts';
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

const showDas = ({ network, url, headers }: DasServer) => ({
  network,
  url: showUrl(url),
  headers: Object.fromEntries(Object.keys(headers).map((header) => [header, '[redacted]'])),
});

const showServer = ({ name, url, headers }: ShredServer) => ({
  name,
  url: showUrl(url),
  headers: Object.fromEntries(Object.keys(headers).map((header) => [header, '[redacted]'])),
});

/** The configuration without its secrets, fit for a terminal or a log. */
export function showConfiguration(configuration: Configuration) {
  const { databaseUrl } = configuration.store;
  return {
    ...configuration,
    upstreams: configuration.upstreams.map(showUpstream),
    das: configuration.das.map(showDas),
    shreds: {
      ...configuration.shreds,
      entries: configuration.shreds.entries.map(showServer),
      deshred: configuration.shreds.deshred.map(showServer),
    },
    store: {
      ...configuration.store,
      databaseUrl: databaseUrl === null ? null : describePostgres(databaseUrl),
    },
  };
}
