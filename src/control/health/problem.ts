import type { Network } from '../../protocol/call.ts';
import { type ProblemCode, problemCodes, type Severity, severities } from './problem-codes.ts';

/** A problem as seen by one gateway. */
export type GatewayProblem = Readonly<{
  code: ProblemCode;
  severity: Severity;
  /** Unix milliseconds. */
  since: number;
  network: Network | null;
  node: string | null;
  /** One sentence for operators, without secrets. */
  text: string;
}>;

/** A problem of the service. */
export type Problem = GatewayProblem &
  Readonly<{
    customer: Readonly<{ id: string; name: string }> | null;
    /** Ids of the gateways that see the problem; empty if it does not depend on a gateway. */
    gateways: string[];
    /** Path of the dashboard page that shows the cause. */
    page: string;
  }>;

export const PROBLEMS_MAX = 100;

/** Identifies a problem across gateways and over time. */
export const problemKey = (
  { code, network, node }: Pick<Problem, 'code' | 'network' | 'node'>,
  customerId = '',
): string => [code, network ?? '', node ?? '', customerId].join('|');

const pages: Readonly<Record<ProblemCode, string>> = {
  no_ready_node: '/upstreams',
  database_unavailable: '/settings?tab=service',
  clickhouse_unavailable: '/settings?tab=service',
  clickhouse_rows_rejected: '/settings?tab=service',
  disk_full: '/settings?tab=service',
  usage_loss: '/audit',
  stripe_push: '/billing?tab=all',
  stripe_totals: '/billing?tab=customer',
  error_rate: '/errors',
  stream_lag: '/upstreams',
  node_unhealthy: '/upstreams',
  log_loss: '/logs',
  quota_spent: '/usage',
};

export const pageOf = (code: ProblemCode): string => pages[code];

const urgencyOf = ({ code, severity }: GatewayProblem): number =>
  severities.indexOf(severity) * problemCodes.length + problemCodes.indexOf(code);

/** Errors before warnings, then by code, the oldest first; at most `PROBLEMS_MAX`. */
export const mostUrgent = <One extends GatewayProblem>(problems: readonly One[]): One[] =>
  problems
    .toSorted((one, other) => urgencyOf(one) - urgencyOf(other) || one.since - other.since)
    .slice(0, PROBLEMS_MAX);

type SeenProblem = Readonly<{ gateway: string; problem: GatewayProblem }>;

/** Joins the same problem of several gateways, with its earliest time and its greatest severity. */
export function joinGateways(seen: readonly SeenProblem[]): Problem[] {
  const joined = new Map<string, Problem>();
  for (const { gateway, problem } of seen) {
    const key = problemKey(problem);
    const before = joined.get(key);
    const gateways = [...(before?.gateways ?? []), gateway];
    const first = before === undefined || problem.since < before.since ? problem : before;
    const severity = before?.severity === 'error' ? 'error' : problem.severity;
    joined.set(key, { ...first, severity, gateways, customer: null, page: pageOf(problem.code) });
  }
  return [...joined.values()];
}
