import { stat } from 'node:fs/promises';
import { openDatabase } from '../control/database/open.ts';
import { pepperFile } from '../control/pepper.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import { type ProbeReport, probeNode } from '../upstream/probe.ts';
import type { Configuration, UpstreamConfiguration } from './configuration.ts';
import { environmentFields } from './configuration-layers.ts';
import { nearestName } from './configuration-names.ts';
import type { Environment } from './configuration-secrets.ts';
import { databaseFile, openDataDir } from './data-dir.ts';
import { pepperSources } from './keys-commands.ts';
import { problemText } from './problem-text.ts';

/** One thing the doctor looked at. */
export type Finding = Readonly<{
  subject: string;
  verdict: 'good' | 'warning' | 'bad';
  /** What was found; of what is not good, also what to do. */
  text: string;
}>;

async function look(subject: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return { subject, verdict: 'good', text: await work() };
  } catch (error) {
    return { subject, verdict: 'bad', text: problemText(error) };
  }
}

function checkDataDir({ dataDir }: Configuration): Promise<Finding> {
  return look('data folder', async () => {
    await openDataDir(dataDir);
    return `${dataDir} can be written`;
  });
}

function checkDatabase(configuration: Configuration, environment: Environment): Promise<Finding> {
  return look('database', async () => {
    const { databaseUrl } = configuration.store;
    const store = await openDatabase({ url: databaseUrl, file: databaseFile(configuration.dataDir) });
    try {
      await openPeppers(store, pepperSources(configuration, environment));
      const { count } = await store.db
        .selectFrom('api_key')
        .select((select) => select.fn.countAll<number>().as('count'))
        .where('state', '!=', 'revoked')
        .executeTakeFirstOrThrow();
      return `${store.place} answers and holds ${count} keys; the pepper fits`;
    } finally {
      await store.close();
    }
  });
}

/** The pepper is what makes a stolen database worthless; others on the machine need not read it. */
async function checkPepperRights(configuration: Configuration, environment: Environment): Promise<Finding[]> {
  const { text, file, dataDir } = pepperSources(configuration, environment);
  if (text !== undefined) return [];
  const path = file ?? pepperFile(dataDir);
  const rights = await stat(path).catch(() => null);
  if (rights === null || (rights.mode & 0o077) === 0) return [];
  return [{ subject: 'pepper', verdict: 'warning', text: `others may read ${path}: chmod 600 ${path}` }];
}

/** A mistyped variable is silently nothing; one that is near to a known one is worth a word. */
function checkVariables(environment: Environment): Finding[] {
  const known = [...Object.keys(environmentFields), 'SOLWAY_CONFIG', 'SOLWAY_PEPPER', 'SOLWAY_PEPPER_FILE'];
  return Object.keys(environment)
    .filter((name) => name.startsWith('SOLWAY_') && !known.includes(name))
    .flatMap((name): Finding[] => {
      const nearest = nearestName(name, known);
      if (nearest === null) return [];
      return [
        {
          subject: 'environment',
          verdict: 'warning',
          text: `${name} does nothing: did you mean ${nearest}?`,
        },
      ];
    });
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
  const found = report.findings.map(({ severity, finding, remedy }): Finding => {
    return { subject, verdict: severity === 'error' ? 'bad' : 'warning', text: `${finding} ${remedy}` };
  });
  return found.length > 0 ? found : [{ subject, verdict: 'good', text: describeReport(report) }];
}

async function checkUpstream({ network, ...node }: UpstreamConfiguration): Promise<Finding[]> {
  try {
    return findingsOf(await probeNode(node, network));
  } catch {
    return [{ subject: `upstream ${node.name} (${network})`, verdict: 'bad', text: 'cannot be asked' }];
  }
}

function checkLocalnet({ upstreams, localnet }: Configuration): Finding[] {
  if (upstreams.length > 0) return [];
  const text = `no [[upstream]] is configured: the embedded ledger answers, a slot every ${localnet.slotMs} ms`;
  return [{ subject: 'upstreams', verdict: 'good', text }];
}

/**
 * Looks at everything the service stands on: data folder, database and pepper, every node. Makes what a start
 * would make (folder, database, pepper) and nothing else. Never rejects.
 */
export async function examine(configuration: Configuration, environment: Environment): Promise<Finding[]> {
  const dataDir = await checkDataDir(configuration);
  const database = await checkDatabase(configuration, environment);
  const rights = await checkPepperRights(configuration, environment);
  const nodes = await Promise.all(configuration.upstreams.map(checkUpstream));
  return [
    ...checkVariables(environment),
    dataDir,
    database,
    ...rights,
    ...checkLocalnet(configuration),
    ...nodes.flat(),
  ];
}
