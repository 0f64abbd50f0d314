import { createLogger } from '../base/log.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import { NodeRefusal } from '../protocol/rest/node-refusal.ts';
import { DasClient, type DasServer } from '../upstream/das/das-client.ts';
import { createUpstreamPool } from '../upstream/pool.ts';
import type { Configuration, UpstreamConfiguration } from './configuration.ts';
import { type Finding, look } from './finding.ts';
import { openTokenList } from './rest-services.ts';

/** A wallet that has nothing that REST shows. */
const NOBODY = '11111111111111111111111111111111';

/** Calls that nodes often refuse, and what customers then do not get. */
const needed = [
  {
    method: 'getTokenAccountsByOwner',
    params: `["${NOBODY}",{"programId":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"},{"encoding":"base64"}]`,
    lost: 'REST shows no tokens and NFTs of wallets: switch on its index (--account-index spl-token-owner)',
  },
  {
    method: 'getProgramAccounts',
    params:
      `["namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",{"encoding":"base64","dataSlice":{"offset":0,"length":0},` +
      `"filters":[{"memcmp":{"offset":32,"bytes":"${NOBODY}"}}]}]`,
    lost: 'REST shows no stake accounts, domains and NFTs of MPL Core: switch on its index (--account-index program-id)',
  },
] as const;

/** What a node refuses of what REST needs; nothing when it cannot be asked at all, which is said elsewhere. */
async function checkNode({ network, ...node }: UpstreamConfiguration, timeoutMs: number): Promise<Finding[]> {
  const log = createLogger('silent', () => {});
  const limits = { attemptTimeoutMs: timeoutMs, timeoutMs };
  const pool = createUpstreamPool({ nodes: { [network]: [node] }, limits, log });
  const findings: Finding[] = [];
  for (const { method, params, lost } of needed) {
    const call = { network, method, row: methodRow(method), params: Buffer.from(params) };
    const answer = await pool.ask(call).catch(() => null);
    if (answer === null || answer.errorCode === 0) continue;
    const text = `refuses ${method} (${answer.errorCode}): ${lost}`;
    findings.push({ subject: `upstream ${node.name} (${network})`, verdict: 'warning', text });
  }
  await pool.stop();
  return findings;
}

const describe = (thrown: unknown): string => {
  if (thrown instanceof NodeRefusal) return `refuses getAssetsByOwner (${thrown.error.code})`;
  return thrown instanceof Failure ? 'does not answer' : 'cannot be asked';
};

async function checkDas(server: DasServer, configuration: Configuration): Promise<Finding> {
  const client = new DasClient([server], configuration.dasPool);
  const ask = { ownerAddress: NOBODY, page: 1, limit: 1 };
  const subject = `DAS ${server.name} (${server.network})`;
  try {
    await client.ask(server.network as Network, 'getAssetsByOwner', ask, new AbortController().signal);
    return { subject, verdict: 'good', text: 'answers' };
  } catch (thrown) {
    const text = `${describe(thrown)}: check its url and headers; compressed NFTs are not listed without it`;
    return { subject, verdict: 'bad', text };
  } finally {
    await client.close();
  }
}

/**
 * What the REST interface stands on besides the store.
 * @param reachable - nodes that answer at all.
 */
export async function checkRest(
  configuration: Configuration,
  reachable: readonly UpstreamConfiguration[],
  timeoutMs: number,
): Promise<Finding[]> {
  const nodes = await Promise.all(reachable.map((node) => checkNode(node, timeoutMs)));
  const das = await Promise.all(configuration.das.map((server) => checkDas(server, configuration)));
  const { tokenList } = configuration.rest;
  if (tokenList === null) return [...nodes.flat(), ...das];
  const list = await look('token list', async () => {
    await openTokenList(configuration);
    return `${tokenList} can be taken`;
  });
  return [...nodes.flat(), ...das, list];
}
