import { isStandardNetwork, type Network } from '../../protocol/call.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { type GenesisHashes, genesisHashesWith } from '../genesis-hash.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { type NodeConfig, UpstreamNode } from '../node.ts';
import { type Outcome, slotIn } from '../outcome.ts';
import { type AttemptResult, attempt } from '../retry/attempt.ts';

/** Problem and remedy for the operator. Contains no URLs or secrets. */
export type ProbeFinding = Readonly<{
  /** `error`: the node is unusable for its network. `warning`: its use is limited. */
  severity: 'error' | 'warning';
  finding: string;
  remedy: string;
}>;

const error = (finding: string, remedy: string): ProbeFinding => ({ severity: 'error', finding, remedy });
const warning = (finding: string, remedy: string): ProbeFinding => ({ severity: 'warning', finding, remedy });

const STATUS_REMEDY: Readonly<Record<number, string>> = {
  401: 'Check the key in the URL or in the headers of this node.',
  403: 'Check the key in the URL or in the headers of this node, and whether the provider limits it to certain addresses.',
  404: 'Check the path of the URL.',
  429: 'The provider limits the rate. Wait, or request a larger plan.',
};

export function unreachable(outcome: Outcome, tls: boolean): ProbeFinding {
  switch (outcome.kind) {
    case 'status':
      return error(
        `The node returned HTTP status ${outcome.status}.`,
        STATUS_REMEDY[outcome.status] ?? 'Check the URL, and contact the operator of the node.',
      );
    case 'transport':
      if (outcome.timedOut) {
        return error(
          'The node did not respond in time.',
          'Check that the node is running and that no firewall blocks it.',
        );
      }
      return outcome.wasSent
        ? error(
            'The connection was closed without a response.',
            'Check that the port speaks HTTP, and whether it requires https.',
          )
        : error(
            'Connection failed.',
            tls
              ? 'Check the host and port of the URL, that the node is running, and its certificate. Without TLS, write http://.'
              : 'Check the host and port of the URL, and that the node is running.',
          );
    default:
      return error('The response is not JSON-RPC.', 'Check that the URL is the RPC port.');
  }
}

type ProbeResults = Readonly<
  Record<'getVersion' | 'getGenesisHash' | 'getHealth' | 'getSlot' | 'getFirstAvailableBlock', AttemptResult>
>;

function resultText({ outcome }: AttemptResult): string | null {
  if (outcome.kind !== 'response' || outcome.response.errorCode !== 0) return null;
  return outcome.response.body.toString('utf8');
}

function stringOf(result: AttemptResult): string | null {
  const match = /^"([^"\\]{1,100})"$/.exec(resultText(result) ?? '');
  return match?.[1] ?? null;
}

/** Version in the response to getVersion; null if there is none. */
export const versionOf = (result: AttemptResult): string | null =>
  /"solana-core":"([^"\\]{1,100})"/.exec(resultText(result) ?? '')?.[1] ?? null;

function genesisFinding(
  hash: string | null,
  network: Network,
  genesisHashes: GenesisHashes,
): ProbeFinding | null {
  const expected = genesisHashes.get(network);
  if (hash === null || hash === expected) return null;
  const [actual] = [...genesisHashes].find(([, known]) => known === hash) ?? [];
  if (actual !== undefined)
    return error(
      `It belongs to ${actual}, not to ${network}.`,
      `List it under ${actual}, or correct its URL.`,
    );
  if (expected === undefined) return null;
  const finding = `Its genesis hash ${hash} is not that of ${network}.`;
  return isStandardNetwork(network)
    ? warning(finding, 'Expected for a private ledger; otherwise correct the URL or the network.')
    : error(finding, 'Correct the URL, the network, or the genesis hash in networks.custom.');
}

const UNHEALTHY = warning(
  'getHealth reports that the node is unhealthy.',
  'Wait until it has caught up with the network.',
);
const NO_SLOT = error('getSlot returned no slot.', 'Check that it is a Solana node and has started up.');
const NO_HISTORY = warning(
  'It has no transaction history.',
  'Start it with --full-rpc-api and --enable-rpc-transaction-history, or add a node that has history.',
);

const findingsOf = (
  results: ProbeResults,
  network: Network,
  genesisHashes: GenesisHashes,
): readonly ProbeFinding[] =>
  [
    genesisFinding(stringOf(results.getGenesisHash), network, genesisHashes),
    stringOf(results.getHealth) === 'ok' ? null : UNHEALTHY,
    slotIn(results.getSlot.outcome) === null ? NO_SLOT : null,
    slotIn(results.getFirstAvailableBlock.outcome) === null ? NO_HISTORY : null,
  ].filter((finding) => finding !== null);

/** Never rejects. @param timeoutMs - timeout of each call; calls are sequential. */
export async function probeNode(
  config: NodeConfig,
  network: Network,
  timeoutMs = 5_000,
  genesisHashes: GenesisHashes = genesisHashesWith({}),
) {
  const node = new UpstreamNode(config, network, defaultUpstreamLimits);
  const request = (method: MethodName): Promise<AttemptResult> =>
    attempt(node, { network, method, row: methods[method], params: null }, timeoutMs);
  try {
    const getVersion = await request('getVersion');
    // Skips the other calls if the first got no response.
    const next = getVersion.outcome.kind === 'response' ? request : async () => getVersion;
    const results = {
      getVersion,
      getGenesisHash: await next('getGenesisHash'),
      getHealth: await next('getHealth'),
      getSlot: await next('getSlot'),
      getFirstAvailableBlock: await next('getFirstAvailableBlock'),
    };
    const all = Object.values(results);
    const responded = all.filter(({ outcome }) => outcome.kind === 'response');
    const reachable = responded.length > 0;
    return {
      node: config.name,
      network,
      reachable,
      latencyMs: reachable ? Math.min(...responded.map(({ elapsedMs }) => elapsedMs)) : null,
      version: versionOf(results.getVersion),
      genesisHash: stringOf(results.getGenesisHash),
      healthy: reachable ? stringOf(results.getHealth) === 'ok' : null,
      slot: slotIn(results.getSlot.outcome),
      firstAvailableBlock: slotIn(results.getFirstAvailableBlock.outcome),
      findings: reachable
        ? findingsOf(results, network, genesisHashes)
        : [unreachable(results.getVersion.outcome, config.url.startsWith('https:'))],
    };
  } finally {
    node.close();
  }
}

/** Members are null if the node did not report them. */
export type ProbeReport = Readonly<Awaited<ReturnType<typeof probeNode>>>;

export type SenderReport = Readonly<{ latencyMs: number | null; findings: readonly ProbeFinding[] }>;

/** Not a transaction: no endpoint can accept it. */
const INVALID_TRANSACTION = Buffer.from('[""]');
const rejectsContent = (status: number): boolean => status === 400 || status === 422;

/** A JSON-RPC error suffices: the endpoint may support only sendTransaction. */
const isRpcResponse = ({ kind }: Outcome): boolean => kind === 'response' || kind === 'withheld';
const isHttpResponse = ({ kind }: Outcome): boolean => kind === 'status' || kind === 'invalid';

function senderFindings(outcome: Outcome, tls: boolean): readonly ProbeFinding[] {
  if (isRpcResponse(outcome)) return [];
  if (outcome.kind !== 'status' || !rejectsContent(outcome.status)) return [unreachable(outcome, tls)];
  return [
    warning(
      `It responds to an invalid transaction with HTTP status ${outcome.status}.`,
      'Some endpoints do: check the URL if no transactions are accepted.',
    ),
  ];
}

/** Probes a send-only endpoint. Never rejects. @param timeoutMs - timeout of each call. */
export async function probeSender(
  config: NodeConfig,
  network: Network,
  timeoutMs: number,
): Promise<SenderReport> {
  const node = new UpstreamNode(config, network, defaultUpstreamLimits);
  const request = (method: MethodName, params: Buffer | null): Promise<AttemptResult> =>
    attempt(node, { network, method, row: methods[method], params }, timeoutMs);
  try {
    const health = await request('getHealth', null);
    const last = isHttpResponse(health.outcome)
      ? await request('sendTransaction', INVALID_TRANSACTION)
      : health;
    const latencyMs = isRpcResponse(last.outcome) ? last.elapsedMs : null;
    return { latencyMs, findings: senderFindings(last.outcome, config.url.startsWith('https:')) };
  } finally {
    node.close();
  }
}
