import type { Network } from '../../protocol/call.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { attempt } from '../attempt.ts';
import { genesisHashes } from '../genesis.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { type NodeConfig, UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { error, type ProbeFinding, unreachable, warning } from './finding.ts';

/** What a node said of itself. Null where it did not say. */
export type ProbeReport = Readonly<{
  node: string;
  network: Network;
  /** Whether it answered JSON-RPC at all. */
  reachable: boolean;
  /** Time of the quickest of the questions. */
  latencyMs: number | null;
  version: string | null;
  genesisHash: string | null;
  healthy: boolean | null;
  slot: Slot | null;
  /** The oldest block it can give; null when it keeps no history. */
  firstAvailableBlock: Slot | null;
  findings: readonly ProbeFinding[];
}>;

type ProbeResult = Readonly<{ outcome: Outcome; elapsedMs: number }>;

type ProbeResults = Readonly<
  Record<'getVersion' | 'getGenesisHash' | 'getHealth' | 'getSlot' | 'getFirstAvailableBlock', ProbeResult>
>;

/** The result's text when the question was answered with one. */
function resultText({ outcome }: ProbeResult): string | null {
  if (outcome.kind !== 'answer' || outcome.response.errorCode !== 0) return null;
  return outcome.response.body.toString('utf8');
}

function stringOf(result: ProbeResult): string | null {
  const match = /^"([^"\\]{1,100})"$/.exec(resultText(result) ?? '');
  return match?.[1] ?? null;
}

function slotOf(result: ProbeResult): Slot | null {
  const text = resultText(result) ?? '';
  return /^\d{1,20}$/.test(text) ? slot(BigInt(text)) : null;
}

function versionOf(result: ProbeResult): string | null {
  return /"solana-core":"([^"\\]{1,100})"/.exec(resultText(result) ?? '')?.[1] ?? null;
}

function genesisFinding(hash: string | null, network: Network): readonly ProbeFinding[] {
  if (hash === null || hash === genesisHashes[network]) return [];
  const actual = (Object.keys(genesisHashes) as Network[]).find((name) => genesisHashes[name] === hash);
  return actual === undefined
    ? [
        warning(
          `Its genesis hash ${hash} is not that of ${network}.`,
          'Fine for a ledger of your own; otherwise correct the URL or the network.',
        ),
      ]
    : [error(`It belongs to ${actual}, not to ${network}.`, `List it under ${actual}, or correct its URL.`)];
}

function findingsOf(results: ProbeResults, network: Network): readonly ProbeFinding[] {
  const findings = [...genesisFinding(stringOf(results.getGenesisHash), network)];
  if (stringOf(results.getHealth) !== 'ok') {
    findings.push(
      warning('It does not call itself healthy.', 'Wait until it has caught up with the network.'),
    );
  }
  if (slotOf(results.getSlot) === null) {
    findings.push(error('It does not tell its slot.', 'Check that it is a Solana node and has started up.'));
  }
  if (slotOf(results.getFirstAvailableBlock) === null) {
    findings.push(
      warning(
        'It keeps no history.',
        'Start it with --full-rpc-api and --enable-rpc-transaction-history, or add a node that has history.',
      ),
    );
  }
  return findings;
}

function reportOf(config: NodeConfig, network: Network, results: ProbeResults): ProbeReport {
  const all = Object.values(results);
  const responded = all.filter(({ outcome }) => outcome.kind === 'answer');
  const reachable = responded.length > 0;
  return {
    node: config.name,
    network,
    reachable,
    latencyMs: reachable ? Math.min(...responded.map(({ elapsedMs }) => elapsedMs)) : null,
    version: versionOf(results.getVersion),
    genesisHash: stringOf(results.getGenesisHash),
    healthy: reachable ? stringOf(results.getHealth) === 'ok' : null,
    slot: slotOf(results.getSlot),
    firstAvailableBlock: slotOf(results.getFirstAvailableBlock),
    findings: reachable
      ? findingsOf(results, network)
      : [unreachable(results.getVersion.outcome, config.url.startsWith('https:'))],
  };
}

/**
 * Asks a node who it is and what it can do, and says what to mend. Never rejects for what the node does.
 * @param timeoutMs - for each of the five questions, which go out one after another.
 */
export async function probeNode(
  config: NodeConfig,
  network: Network,
  timeoutMs = 5_000,
): Promise<ProbeReport> {
  const node = new UpstreamNode(config, network, defaultUpstreamLimits);
  const request = (method: MethodName): Promise<ProbeResult> =>
    attempt(node, { network, method, row: methods[method], params: null }, timeoutMs);
  try {
    const getVersion = await request('getVersion');
    // Somebody who does not answer the first question would only make us wait for each of the others.
    const next = getVersion.outcome.kind === 'answer' ? request : async () => getVersion;
    return reportOf(config, network, {
      getVersion,
      getGenesisHash: await next('getGenesisHash'),
      getHealth: await next('getHealth'),
      getSlot: await next('getSlot'),
      getFirstAvailableBlock: await next('getFirstAvailableBlock'),
    });
  } finally {
    node.close();
  }
}
