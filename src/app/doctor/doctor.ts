import { stat } from 'node:fs/promises';
import type { Configuration, UpstreamConfiguration } from '../../config/configuration.ts';
import type { Environment } from '../../config/sources.ts';
import { countKeys } from '../../control/keys/key-quota.ts';
import { pepperFile } from '../../control/pepper.ts';
import { openPeppers } from '../../control/pepper-proof.ts';
import { type GenesisHashes, genesisHashesWith } from '../../upstream/genesis-hash.ts';
import { type ProbeReport, probeNode } from '../../upstream/probe/probe-node.ts';
import { mistypedVariables } from '../configuration-warnings.ts';
import { findStartMode, NoNodesError } from '../development-mode.ts';
import { openDataDir } from '../process/data-dir.ts';
import { pepperSources, withStore } from '../store.ts';
import { toUpstreamConfiguration } from '../upstreams/active-nodes.ts';
import { readAddedNodes } from '../upstreams/added-nodes.ts';
import { hasShreds } from '../upstreams/shreds.ts';
import { bad, type Finding, good, probeFindings, runCheck, warning } from './check.ts';
import { checkAnyFeed, checkGeyser, checkPubsub, checkSenders, checkShreds } from './feeds.ts';
import { checkLedger, checkLogFile, checkPorts, checkTls } from './host.ts';
import { checkRest } from './rest.ts';

function checkDataDir({ dataDir }: Configuration): Promise<Finding> {
  return runCheck('data folder', async () => {
    await openDataDir(dataDir);
    return `${dataDir} is writable`;
  });
}

function checkDatabase(configuration: Configuration, environment: Environment): Promise<Finding> {
  return runCheck('database', () =>
    withStore(configuration, async (store) => {
      await openPeppers(store, pepperSources(configuration, environment));
      const count = await countKeys(store.db, Date.now());
      return `${store.location} responds; ${count} keys; the pepper matches`;
    }),
  );
}

type Stored = Readonly<{
  added: readonly UpstreamConfiguration[];
  isDevelopment: boolean;
  findings: readonly Finding[];
}>;

/** Ignores an unreadable database, which `checkDatabase` reports. */
async function readStored(configuration: Configuration, environment: Environment): Promise<Stored> {
  const nothing: Stored = { added: [], isDevelopment: false, findings: [] };
  try {
    return await withStore(configuration, async (store) => {
      const peppers = await openPeppers(store, pepperSources(configuration, environment));
      const added = (await readAddedNodes(store, peppers)).nodes.map(toUpstreamConfiguration);
      const { isDevelopment, note } = await findStartMode(configuration, store);
      return { added, isDevelopment, findings: note === null ? [] : [warning('mode', note)] };
    });
  } catch (error) {
    if (!(error instanceof NoNodesError)) return nothing;
    return { ...nothing, findings: [bad('mode', error.message)] };
  }
}

/** Other users must not be able to read the pepper, because it protects the key digests if the database is stolen. */
async function checkPepperRights(configuration: Configuration, environment: Environment): Promise<Finding[]> {
  const { text, file, dataDir } = pepperSources(configuration, environment);
  if (text !== undefined) return [];
  const path = file ?? pepperFile(dataDir);
  const rights = await stat(path).catch(() => null);
  if (rights === null || (rights.mode & 0o077) === 0) return [];
  return [warning('pepper', `other users can read ${path}: run chmod 600 ${path}`)];
}

function describeReport(report: ProbeReport): string {
  const facts = [
    report.version === null ? 'version unknown' : `version ${report.version}`,
    report.slot === null ? 'slot unknown' : `slot ${report.slot}`,
    report.latencyMs === null ? null : `${Math.round(report.latencyMs)} ms`,
  ];
  return facts.filter((fact) => fact !== null).join(', ');
}

function findingsOf(report: ProbeReport): Finding[] {
  const subject = `upstream ${report.node} (${report.network})`;
  const found = probeFindings(subject, report.findings);
  return found.length > 0 ? found : [good(subject, describeReport(report))];
}

/** `report` is null if the node cannot be probed. */
type NodeCheck = Readonly<{
  report: ProbeReport | null;
  findings: readonly Finding[];
  feeds: readonly Finding[];
}>;

async function checkUpstream(
  { network, ...node }: UpstreamConfiguration,
  timeoutMs: number,
  genesisHashes: GenesisHashes,
): Promise<NodeCheck> {
  try {
    const [report, pubsub, geyser] = await Promise.all([
      probeNode(node, network, timeoutMs, genesisHashes),
      checkPubsub({ network, ...node }, timeoutMs),
      checkGeyser({ network, ...node }, timeoutMs),
    ]);
    // If the node is unreachable, PubSub findings add nothing, but Geyser may run on another machine.
    const feeds = report.reachable ? [...pubsub, ...geyser] : geyser;
    return { report, findings: findingsOf(report), feeds };
  } catch {
    const subject = `upstream ${node.name} (${network})`;
    return {
      report: null,
      findings: [bad(subject, 'cannot be checked: its configuration is invalid')],
      feeds: [],
    };
  }
}

function checkChains(nodeChecks: readonly NodeCheck[]): Finding[] {
  const reports = nodeChecks.flatMap(({ report }) => (report?.genesisHash == null ? [] : [report]));
  return [...Map.groupBy(reports, ({ network }) => network)].flatMap(([network, ofNetwork]): Finding[] => {
    const chains = Map.groupBy(ofNetwork, ({ genesisHash }) => genesisHash);
    if (chains.size < 2) return [];
    const namesOf = (nodes: readonly ProbeReport[]): string => nodes.map(({ node }) => node).join(', ');
    const chainList = [...chains].map(([hash, nodes]) => `${hash} (${namesOf(nodes)})`).join(' and ');
    const text =
      `its nodes belong to different chains: their genesis hashes are ${chainList}. ` +
      'Remove the nodes of the wrong chain.';
    return [bad(`network ${network}`, text)];
  });
}

/** Checks everything the service depends on. Creates only what starting the service would create. Never rejects. */
export async function examine(configuration: Configuration, environment: Environment): Promise<Finding[]> {
  const dataDir = await checkDataDir(configuration);
  const database = await checkDatabase(configuration, environment);
  const rights = await checkPepperRights(configuration, environment);
  const { attemptTimeoutMs } = configuration.upstreamPool;
  const { added, isDevelopment, findings: mode } = await readStored(configuration, environment);
  const upstreams = [...configuration.upstreams, ...added];
  const genesisHashes = genesisHashesWith(configuration.networks.custom);
  const nodes = await Promise.all(
    upstreams.map((node) => checkUpstream(node, attemptTimeoutMs, genesisHashes)),
  );
  const reachable = upstreams.filter((_, index) => nodes[index]?.report?.reachable);
  return [
    ...mistypedVariables(environment).map((text) => warning('environment', text)),
    dataDir,
    ...(await checkLogFile(configuration)),
    database,
    ...rights,
    ...mode,
    ...(await checkPorts(configuration, isDevelopment)),
    ...(await checkTls(configuration)),
    ...(isDevelopment ? await checkLedger(configuration) : []),
    ...nodes.flatMap(({ findings, feeds }) => [...findings, ...feeds]),
    ...checkChains(nodes),
    ...checkAnyFeed(
      configuration,
      nodes.flatMap(({ feeds }) => feeds),
    ),
    ...(await checkSenders(configuration, attemptTimeoutMs)),
    ...(await checkShreds(configuration, hasShreds(configuration, isDevelopment), attemptTimeoutMs)),
    ...(await checkRest(configuration, reachable, attemptTimeoutMs)),
  ];
}
