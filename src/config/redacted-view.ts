import { describePostgres } from '../control/database/open.ts';
import type { DasServer } from '../upstream/das/das-client.ts';
import type { ShredServer } from '../upstream/shreds/shreds-config.ts';
import type { Configuration, SenderConfiguration, UpstreamConfiguration } from './configuration.ts';
import { showUrl } from './secrets.ts';

function showUpstream(node: UpstreamConfiguration) {
  return {
    ...node,
    url: showUrl(node.url),
    ws: node.ws === null ? null : showUrl(node.ws),
    grpc: node.grpc === null ? null : showUrl(node.grpc),
    headers: Object.fromEntries(Object.keys(node.headers).map((name) => [name, '[redacted]'])),
  };
}

const showSender = ({ network, name, url, headers }: SenderConfiguration) => ({
  ...{ network, name },
  url: showUrl(url),
  headers: Object.fromEntries(Object.keys(headers).map((header) => [header, '[redacted]'])),
});

const showDas = ({ network, name, url, headers }: DasServer) => ({
  ...{ network, name },
  url: showUrl(url),
  headers: Object.fromEntries(Object.keys(headers ?? {}).map((header) => [header, '[redacted]'])),
});

const showServer = ({ name, url, headers }: ShredServer) => ({
  name,
  url: showUrl(url),
  headers: Object.fromEntries(Object.keys(headers).map((header) => [header, '[redacted]'])),
});

const showOr = (url: string | null): string | null => (url === null ? null : showUrl(url));
const hidden = (secret: string | null): string | null => (secret === null ? null : '[redacted]');

/** The configuration without its secrets, fit for a terminal or a log. */
export function showConfiguration(configuration: Configuration) {
  const { databaseUrl } = configuration.store;
  const { accounts, cache, kubo, mail, metrics, pinning, shared, telemetry } = configuration;
  return {
    ...configuration,
    upstreams: configuration.upstreams.map(showUpstream),
    senders: configuration.senders.map(showSender),
    das: configuration.das.map(showDas),
    accounts: {
      ...accounts,
      oidc: accounts.oidc.map((provider) => ({ ...provider, clientSecret: '[redacted]' })),
    },
    kubo: { ...kubo, url: showOr(kubo.url), authorization: hidden(kubo.authorization) },
    pinning: { ...pinning, url: showOr(pinning.url), token: hidden(pinning.token) },
    cache: { ...cache, redisUrl: showOr(cache.redisUrl) },
    shared: { ...shared, redisUrl: showOr(shared.redisUrl) },
    mail: { ...mail, smtpUrl: showOr(mail.smtpUrl) },
    metrics: { ...metrics, token: hidden(metrics.token) },
    telemetry: {
      ...telemetry,
      otlpUrl: showOr(telemetry.otlpUrl),
      headers: Object.fromEntries(Object.keys(telemetry.headers).map((name) => [name, '[redacted]'])),
    },
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
