import { createLogger } from '../../base/log.ts';
import type { Configuration, UpstreamConfiguration } from '../../config/configuration.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodRow } from '../../protocol/methods.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import { request } from '../../protocol/rpc-dispatcher.ts';
import { DasClient, type DasServer } from '../../upstream/das/das-client.ts';
import { createUpstreamPool } from '../../upstream/pool.ts';
import { openTokenList } from '../servers/rest-services.ts';
import { bad, type Finding, good, runCheck, warning } from './check.ts';

/** Address of a wallet without tokens or NFTs. */
const EMPTY_WALLET = '11111111111111111111111111111111';

/** Calls that REST needs but nodes often reject. `impact` says what REST lacks without the call. */
const requiredCalls = [
  {
    method: 'getTokenAccountsByOwner',
    params: `["${EMPTY_WALLET}",{"programId":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"},{"encoding":"base64"}]`,
    impact: 'REST returns no tokens or NFTs of wallets: enable the index (--account-index spl-token-owner)',
  },
  {
    method: 'getProgramAccounts',
    params:
      `["namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",{"encoding":"base64","dataSlice":{"offset":0,"length":0},` +
      `"filters":[{"memcmp":{"offset":32,"bytes":"${EMPTY_WALLET}"}}]}]`,
    impact:
      'REST returns no stake accounts, domains or MPL Core NFTs: enable the index (--account-index program-id)',
  },
] as const;

/** Ignores calls without a response, because another check reports unreachable nodes. */
async function checkNode({ network, ...node }: UpstreamConfiguration, timeoutMs: number): Promise<Finding[]> {
  const log = createLogger('silent', () => {});
  const limits = { attemptTimeoutMs: timeoutMs, timeoutMs };
  const pool = createUpstreamPool({ nodes: { [network]: [node] }, limits, log });
  const findings: Finding[] = [];
  for (const { method, params, impact } of requiredCalls) {
    const call = { network, method, row: methodRow(method), params: Buffer.from(params) };
    const response = await request(pool, call).catch(() => null);
    if (response === null || response.errorCode === 0) continue;
    const text = `rejects ${method} (${response.errorCode}): ${impact}`;
    findings.push(warning(`upstream ${node.name} (${network})`, text));
  }
  await pool.stop();
  return findings;
}

const describe = (thrown: unknown): string => {
  if (thrown instanceof NodeRejection) return `rejects getAssetsByOwner (${thrown.error.code})`;
  return thrown instanceof Failure ? 'does not respond' : 'cannot be called';
};

async function checkDas(server: DasServer, configuration: Configuration): Promise<Finding> {
  const client = new DasClient([server], configuration.dasPool);
  const params = { ownerAddress: EMPTY_WALLET, page: 1, limit: 1 };
  const subject = `DAS ${server.name} (${server.network})`;
  try {
    await client.request(server.network as Network, 'getAssetsByOwner', params, new AbortController().signal);
    return good(subject, 'responds');
  } catch (thrown) {
    const text = `${describe(thrown)}: check its url and headers; without it, compressed NFTs are not listed`;
    return bad(subject, text);
  } finally {
    await client.close();
  }
}

/** @param reachable - the nodes that respond. */
export async function checkRest(
  configuration: Configuration,
  reachable: readonly UpstreamConfiguration[],
  timeoutMs: number,
): Promise<Finding[]> {
  const nodes = await Promise.all(reachable.map((node) => checkNode(node, timeoutMs)));
  const das = await Promise.all(configuration.das.map((server) => checkDas(server, configuration)));
  const { tokenList } = configuration.rest;
  if (tokenList === null) return [...nodes.flat(), ...das];
  const list = await runCheck('token list', async () => {
    await openTokenList(configuration);
    return `${tokenList} is valid`;
  });
  return [...nodes.flat(), ...das, list];
}
