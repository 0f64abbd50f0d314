import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from '../config/configuration.ts';
import { isSection } from '../config/live-configuration.ts';

/** When another value is in force: at a reload or only at a start; where it depends, whether it is at this reload. */
type When = 'now' | 'restart' | ((before: Configuration, after: Configuration) => boolean);

/** A word for a whole section stands for each of its fields. */
type Rows<Value> = Value extends string | readonly unknown[] | null
  ? When
  : When | { readonly [Field in keyof Value]: When };

/** A start decides whether the embedded ledger runs, so the first and the last node of the file come and go with one. */
const unlessLedger = (before: Configuration, after: Configuration): boolean =>
  after.upstreams.length > 0 && (before.upstreams.length > 0 || !before.dev);

/** Whether there is mail at all is asked at the start. */
const unlessMail = ({ mail: before }: Configuration, { mail: after }: Configuration): boolean =>
  (before.smtpUrl === null) === (after.smtpUrl === null);

/** Every field of the configuration, by its name in the program; a missing one does not compile. */
export const reloadable: { readonly [Section in keyof Configuration]: Rows<Configuration[Section]> } = {
  dataDir: 'restart',
  dev: 'restart',
  file: 'now',
  server: {
    host: 'restart',
    port: 'restart',
    workers: 'restart',
    tls: 'restart',
    bodyMaxBytes: 'restart',
    bodiesMaxBytes: 'restart',
    batchCallsMax: 'restart',
    batchConcurrency: 'restart',
    batchAnswersMaxBytes: 'restart',
    answersMaxBytes: 'restart',
    connectionsMax: 'restart',
    connectionsPerAddressMax: 'restart',
    connectionsExempt: 'restart',
    requestsInFlightMax: 'restart',
    headersMaxBytes: 'restart',
    headersTimeoutMs: 'restart',
    requestTimeoutMs: 'restart',
    ownTimeMaxMs: 'restart',
    rawDoor: 'restart',
    rawHeadMaxBytes: 'restart',
    rawBodyMaxBytes: 'restart',
    keepAliveTimeoutMs: 'restart',
    idleTimeoutMs: 'restart',
    trustedProxies: 'now',
    drainNoticeMs: 'restart',
    drainGraceMs: 'restart',
  },
  networks: 'restart',
  upstreams: unlessLedger,
  upstreamPool: 'now',
  senders: 'restart',
  sending: 'now',
  cache: 'restart',
  sessions: 'restart',
  websocket: {
    connectionsMax: 'now',
    messagesPerSecond: 'now',
    callsInFlightMax: 'restart',
    callsWaitingMax: 'restart',
    callsWaitingMaxBytes: 'restart',
    allCallsInFlightMax: 'restart',
    queueMaxBytes: 'restart',
    queuesMaxBytes: 'restart',
    pingIntervalMs: 'restart',
    pongTimeoutMs: 'restart',
    idleTimeoutMs: 'restart',
    closeTimeoutMs: 'restart',
    lookIntervalMs: 'restart',
    keySubscriptionsMax: 'now',
    keyAddressesMax: 'now',
    addressesMax: 'restart',
    topicsMax: 'restart',
    topicsIdleMax: 'restart',
    topicGraceMs: 'restart',
    topicOpenTimeoutMs: 'restart',
    topicHeldMax: 'restart',
  },
  feeds: 'restart',
  geyser: 'restart',
  grpc: 'restart',
  replay: 'restart',
  blocks: 'restart',
  geyserSource: 'restart',
  shreds: 'restart',
  rest: {
    requestsPerMinute: 'now',
    keyInFlightMax: 'now',
    callsInFlightMax: 'restart',
    keyCallsInFlightMax: 'restart',
    answerMaxBytes: 'now',
    answersMaxBytes: 'now',
    timeoutMs: 'now',
    uploadTimeoutMs: 'now',
    familiesMax: 'restart',
    bodyMaxBytes: 'restart',
    bodiesMaxBytes: 'restart',
    historyDays: 'restart',
    domainSuffix: 'restart',
    tokenList: 'restart',
  },
  offChain: 'restart',
  das: 'restart',
  dasPool: 'restart',
  confirmations: 'restart',
  storage: 'restart',
  uploads: 'restart',
  ipfs: 'restart',
  kubo: 'restart',
  pinning: 'restart',
  semiWallets: 'restart',
  localnet: 'restart',
  store: 'restart',
  keys: {
    keysMax: 'restart',
    customerKeysMax: 'now',
    pollIntervalMs: 'restart',
    usageFlushIntervalMs: 'restart',
    usageRowsMax: 'restart',
    usageJournalMaxBytes: 'restart',
    usageMinutesDays: 'restart',
    usageHoursDays: 'restart',
    usageRetentionDays: 'restart',
    wrongKeysPerMinute: 'now',
    wrongKeysRefusedMs: 'now',
    wrongKeysExempt: 'restart',
    addressesMax: 'restart',
    overlapHours: 'now',
    revokeLeaked: 'now',
    scannerKeys: 'restart',
  },
  accounts: {
    signUp: 'now',
    publicUrl: 'restart',
    oidc: 'restart',
    passwordMin: 'restart',
    sessionDays: 'restart',
    invitationDays: 'now',
    accountFreeTries: 'restart',
    addressFreeTries: 'restart',
    hashesMax: 'restart',
    hashesWaitingMax: 'restart',
    membersMax: 'now',
    invitationsMax: 'now',
    tokensMax: 'now',
    customersPerUserMax: 'now',
  },
  controlApi: {
    bodyMaxBytes: 'now',
    bodyTimeoutMs: 'now',
    requestsMax: 'restart',
    siteRequestsMax: 'restart',
    streamsMax: 'restart',
    callerStreamsMax: 'restart',
    heartbeatMs: 'restart',
    recheckMs: 'restart',
  },
  shared: 'restart',
  quotas: 'restart',
  notices: {
    allowNetworks: 'restart',
    ports: 'restart',
    connectTimeoutMs: 'restart',
    resolveTimeoutMs: 'restart',
    urlMaxLength: 'restart',
    watchIntervalMs: 'restart',
    pollIntervalMs: 'restart',
    inFlightMax: 'now',
    timeoutMs: 'now',
    triesMax: 'now',
    retryMs: 'now',
    retryMaxMs: 'now',
    targetsMax: 'now',
    testIntervalMs: 'now',
    keptDays: 'now',
  },
  mail: {
    smtpUrl: unlessMail,
    from: unlessMail,
    timeoutMs: 'now',
    inFlightMax: 'now',
    customerPerHour: 'now',
    receiverPerHour: 'now',
  },
  requestLog: {
    perSecond: 'now',
    share: 'now',
    lateMax: 'now',
    slowMs: 'now',
    entriesMax: 'restart',
    bodyMaxBytes: 'now',
    stepsMax: 'now',
    flushIntervalMs: 'restart',
    keptHours: 'now',
    customerRowsMax: 'now',
    rowsMax: 'now',
    tailsMax: 'now',
    customerTailsMax: 'now',
    followerTailsMax: 'now',
    operatorTailsKept: 'now',
  },
  gateways: 'restart',
  metrics: 'restart',
  telemetry: 'restart',
  plans: 'now',
  log: { level: 'now', file: 'restart' },
};

/** What another configuration changes, by the names of the file. */
export type Changes = Readonly<{
  /** What is to be in force: all but what takes a restart. */
  configuration: Configuration;
  changed: readonly string[];
  restart: readonly string[];
}>;

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Tables of which there may be several are named once each in the file. */
const singularNames: Readonly<Record<string, string>> = { upstreams: 'upstream', senders: 'sender' };

/** As the file calls it: `server.port`. */
const fileName = (section: string, field?: string): string => {
  const name = singularNames[section] ?? snakeCase(section);
  return field === undefined ? name : `${name}.${snakeCase(field)}`;
};

type Section = Readonly<Record<string, unknown>>;

function isNow(when: When, before: Configuration, after: Configuration): boolean {
  return typeof when === 'function' ? when(before, after) : when === 'now';
}

/** Compares two configurations field by field. */
export function changesBetween(before: Configuration, after: Configuration): Changes {
  const changed: string[] = [];
  const restart: string[] = [];
  const note = (when: When, name: string): boolean => {
    const now = isNow(when, before, after);
    (now ? changed : restart).push(name);
    return now;
  };
  const sections = Object.keys(before).map((section) => {
    const [old, fresh, rows] = [before, after, reloadable].map(
      (all): unknown => all[section as keyof Configuration],
    );
    if (isDeepStrictEqual(old, fresh)) return [section, old];
    if (!isSection(old) || !isSection(fresh))
      return [section, note(rows as When, fileName(section)) ? fresh : old];
    const fields = Object.keys(old).map((field) => {
      if (isDeepStrictEqual(old[field], fresh[field])) return [field, old[field]];
      const when = (isSection(rows) ? (rows as Section)[field] : rows) as When;
      return [field, note(when, fileName(section, field)) ? fresh[field] : old[field]];
    });
    return [section, Object.fromEntries(fields)];
  });
  const configuration = Object.fromEntries(sections) as Configuration;
  return { configuration, changed: changed.sort(), restart: restart.sort() };
}
