import { z } from 'zod';
import { problemCodes, severities } from '../../health/problem-codes.ts';
import type { Route, RouteName } from './route.ts';
import { done, network, noticeTarget, time } from './values.ts';

const code = z.enum(problemCodes);

const alert = z.object({
  id: z.string(),
  code,
  severity: z.enum(severities),
  network: network.nullable(),
  node: z.string().nullable(),
  customer: z.object({ id: z.string(), name: z.string() }).nullable(),
  text: z.string(),
  page: z.string(),
  since: time,
  raisedAt: time,
  /** null: no message was sent, because of a silence. */
  notifiedAt: time.nullable(),
  /** null: the problem persists. */
  resolvedAt: time.nullable(),
});

const silence = z.object({
  /** null: all codes. */
  code: code.nullable(),
  until: time,
  createdBy: z.string(),
  createdAt: time,
});

export const alertRoutes = {
  'GET /alerts': {
    access: 'operator',
    summary: 'List the last 100 alerts, targets and silences',
    result: z.object({
      alerts: z.array(alert),
      targets: z.array(noticeTarget),
      silences: z.array(silence),
    }),
  },
  'POST /alerts/targets': {
    access: 'operator',
    summary: 'Add an alert target. The signing secret of a webhook is returned only here',
    body: z.object({
      kind: z.enum(['webhook', 'email', 'slack', 'pagerduty']),
      /** URL or mail address. For PagerDuty, defaults to the US service region. */
      to: z.string().min(3).max(2_048).optional(),
      /** Integration key of PagerDuty's Events API v2. */
      routingKey: z
        .string()
        .regex(/^[A-Za-z0-9]{32}$/, 'must have 32 letters and digits')
        .optional(),
    }),
    result: z.object({ target: noticeTarget, secret: z.string().nullable() }),
  },
  'POST /alerts/targets/{target}/test': {
    access: 'operator',
    summary: 'Send a test alert',
    result: z.object({ delivered: z.boolean(), problem: z.string().nullable() }),
  },
  'DELETE /alerts/targets/{target}': {
    access: 'operator',
    summary: 'Remove an alert target',
    result: done,
  },
  'POST /alerts/silences': {
    access: 'operator',
    summary: 'Silence alerts until a given time, for one problem code or all',
    body: z.object({ code: code.nullable().default(null), until: time }),
    result: silence,
  },
  'DELETE /alerts/silences/{code}': {
    access: 'operator',
    summary: 'End a silence; `all` ends the silence of all codes',
    result: done,
  },
} as const satisfies Record<RouteName, Route>;
