import { z } from 'zod';
import { problemCodes, severities } from '../../health/problem-codes.ts';
import type { Route, RouteName } from './route.ts';
import { count, network, time } from './values.ts';

const problem = z.object({
  code: z.enum(problemCodes),
  severity: z.enum(severities),
  since: time,
  network: network.nullable(),
  node: z.string().nullable(),
  customer: z.object({ id: z.string(), name: z.string() }).nullable(),
  /** Ids of the gateways that see the problem; empty if it does not depend on a gateway. */
  gateways: z.array(z.string()),
  /** One sentence. */
  text: z.string(),
  /** Path of the dashboard page that shows the cause. */
  page: z.string(),
});

const problems = z.object({
  /** The most urgent first, at most 100. */
  problems: z.array(problem),
  /** Number of gateways that report. */
  gateways: count,
});
export type ProblemJson = z.infer<typeof problem>;

export const healthRoutes = {
  'GET /problems': {
    access: 'operator',
    summary: 'List current problems of the service, as seen by all gateways',
    result: problems,
  },
  'GET /customers/{customer}/problems': {
    access: 'viewer',
    summary: 'List current problems of a customer, such as a spent quota',
    result: problems,
  },
} as const satisfies Record<RouteName, Route>;
