import type { Network } from '../../protocol/call.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { type AttemptResult, attempt } from '../attempt.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { type NodeConfig, UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { type ProbeFinding, unreachable, warning } from './finding.ts';

/** What an endpoint that takes transactions only was found to be. */
export type SenderReport = Readonly<{
  /** Time of the answer; null where there was none. */
  latencyMs: number | null;
  findings: readonly ProbeFinding[];
}>;

/** No transaction: nobody can take it, and whoever takes transactions says so. */
const INVALID_TRANSACTION = Buffer.from('[""]');
/** What an endpoint may answer to what is no transaction, without a word of JSON-RPC. */
const refusesContent = (status: number): boolean => status === 400 || status === 422;

/** A refusal in JSON-RPC is as good as a result: such an endpoint need know nothing but sendTransaction. */
const isRpcResponse = ({ kind }: Outcome): boolean => kind === 'answer' || kind === 'withheld';
const isHttpResponse = ({ kind }: Outcome): boolean => kind === 'status' || kind === 'garbage';

function findingsOf(outcome: Outcome, tls: boolean): readonly ProbeFinding[] {
  if (isRpcResponse(outcome)) return [];
  if (outcome.kind !== 'status' || !refusesContent(outcome.status)) return [unreachable(outcome, tls)];
  return [
    warning(
      `It answers what is no transaction with HTTP status ${outcome.status}.`,
      'Some endpoints do: check its URL where no transaction is taken there.',
    ),
  ];
}

/**
 * Asks an endpoint that takes transactions only for its health and, where it knows no such question, hands it what is no
 * transaction. Neither changes anything. Never rejects for what the endpoint does.
 * @param timeoutMs - for each of the two.
 */
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
    return { latencyMs, findings: findingsOf(last.outcome, config.url.startsWith('https:')) };
  } finally {
    node.close();
  }
}
