import type { Call } from '../../../src/protocol/call.ts';
import { methodRow } from '../../../src/protocol/methods.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from '../../../src/upstream/limits.ts';
import { type NodeConfig, UpstreamNode } from '../../../src/upstream/node.ts';
import type { Outcome } from '../../../src/upstream/outcome.ts';
import { type AttemptResult, attempt } from '../../../src/upstream/retry/attempt.ts';

/** Long enough for slow machines. */
export const PATIENCE_MS = 20_000;

export const call = (method = 'getBalance', params: unknown = []): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: Buffer.from(JSON.stringify(params)),
});

export function nodeAt(
  url: string,
  limits: Partial<UpstreamLimits> = {},
  config: Partial<NodeConfig> = {},
): UpstreamNode {
  return new UpstreamNode({ name: 'raw', url, ...config }, 'devnet', { ...defaultUpstreamLimits, ...limits });
}

export const sendOnce = (
  node: UpstreamNode,
  timeoutMs = PATIENCE_MS,
  method = 'getBalance',
): Promise<AttemptResult> => attempt(node, call(method), timeoutMs);

const outcomeOf = async (
  node: UpstreamNode,
  timeoutMs = PATIENCE_MS,
  method = 'getBalance',
): Promise<Outcome> => (await sendOnce(node, timeoutMs, method)).outcome;

export async function outcomeText(
  node: UpstreamNode,
  timeoutMs = PATIENCE_MS,
  method = 'getBalance',
): Promise<string> {
  const outcome = await outcomeOf(node, timeoutMs, method);
  if (outcome.kind === 'response') return outcome.response.body.toString();
  if (outcome.kind !== 'transport') return outcome.kind;
  return `${outcome.wasSent ? 'sent' : 'unsent'}, ${outcome.timedOut ? 'late' : 'lost'}`;
}
