import { z } from 'zod';
import { customerStates } from '../../accounts/roles.ts';
import type { Route, RouteName } from './route.ts';
import {
  adminToken,
  auditEntry,
  auditFilter,
  done,
  email,
  expiry,
  name,
  noticeTarget,
  pageOf,
  pageQuery,
  rangeQuery,
  revokedToken,
  role,
  time,
  withMade,
} from './values.ts';

export const customer = z.object({
  id: z.string(),
  name: z.string(),
  planId: z.string(),
  state: z.enum(customerStates),
  createdAt: time,
});
export type CustomerJson = z.infer<typeof customer>;

const member = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  role,
  since: time,
  twoFactor: z.boolean(),
});

const invitation = z.object({
  id: z.string(),
  /** Empty: anyone with the link may accept. */
  email: z.string(),
  role,
  isOperator: z.boolean(),
  createdAt: time,
  expiresAt: time,
  createdBy: z.string(),
});

const auditQuery = pageQuery.extend(rangeQuery.shape).extend({
  key: z.string().length(8).optional(),
  ...auditFilter,
});

export const accountRoutes = {
  'GET /me': {
    access: 'anybody',
    summary: 'The current user, their customers, and the features of this service',
    result: z.object({
      user: z
        .object({
          id: z.string(),
          name: z.string(),
          email: z.string(),
          isOperator: z.boolean(),
          twoFactor: z.boolean(),
        })
        .nullable(),
      customers: z.array(customer.extend({ role })),
      service: z.object({
        version: z.string(),
        signUp: z.enum(['open', 'invited']),
        /** No operator exists yet. The setup link was printed at the first start. */
        needsSetup: z.boolean(),
        oidc: z.array(z.object({ id: z.string(), name: z.string() })),
        /** The default network. */
        network: z.string(),
        networks: z.array(z.string()),
        /** URLs without a path; `grpc` is null while gRPC is disabled. */
        urls: z.object({ http: z.string(), ws: z.string(), grpc: z.string().nullable() }),
        hasShredStage: z.boolean(),
        mode: z.enum(['development', 'production']),
        plans: z.array(z.object({ id: z.string(), name: z.string() })),
        mail: z.boolean(),
      }),
    }),
  },
  'POST /customers': {
    access: 'signed-in',
    summary: 'Create a customer owned by the caller. Needs the operator unless sign-up is open',
    body: z.object({ name }),
    result: customer,
  },
  'GET /customers/{customer}': {
    access: 'viewer',
    summary: 'One customer',
    result: customer,
  },
  'PATCH /customers/{customer}': {
    access: 'admin',
    summary: 'Change the name of a customer; the operator can also change plan and state',
    body: z.object({ name, planId: z.string().max(32), state: z.enum(customerStates) }).partial(),
    result: customer,
  },
  'POST /customers/{customer}/delete': {
    access: 'operator',
    summary: 'Delete a customer permanently, with all but its usage totals and audit entries',
    /** The name of the customer, as a confirmation. */
    body: z.object({ name: z.string().max(256) }),
    result: done,
  },
  'GET /customers/{customer}/members': {
    access: 'viewer',
    summary: 'List members and open invitations',
    result: z.object({ members: z.array(member), invitations: z.array(invitation) }),
  },
  'POST /customers/{customer}/invitations': {
    access: 'admin',
    summary: 'Invite a member. Only this response contains the link; it is also mailed if mail is configured',
    body: z.object({ email, role }),
    result: z.object({ invitation, link: z.string(), mailed: z.boolean() }),
  },
  'DELETE /customers/{customer}/invitations/{invitation}': {
    access: 'admin',
    summary: 'Revoke an invitation',
    result: done,
  },
  'POST /invitations/preview': {
    access: 'anybody',
    summary: 'Show an invitation by its token',
    body: z.object({ token: z.string().max(128) }),
    result: invitation
      .pick({ email: true, role: true, isOperator: true, expiresAt: true })
      .extend({ customerName: z.string() }),
  },
  'POST /invitations/accept': {
    access: 'signed-in',
    summary: 'Accept an invitation and join its customer',
    body: z.object({ token: z.string().max(128) }),
    result: customer,
  },
  'PATCH /customers/{customer}/members/{user}': {
    access: 'admin',
    summary: 'Change the role of a member',
    body: z.object({ role }),
    result: member,
  },
  'DELETE /customers/{customer}/members/{user}': {
    access: 'admin',
    self: 'user',
    summary: 'Remove a member; any member can remove themselves',
    result: done,
  },
  'GET /customers/{customer}/audit': {
    access: 'admin',
    summary: 'List audit log entries, newest first',
    query: auditQuery,
    result: pageOf(auditEntry),
  },
  'GET /customers/{customer}/audit.jsonl': {
    access: 'admin',
    summary: 'Export audit log entries as JSON Lines, oldest first',
    query: auditQuery.omit({ cursor: true, limit: true }),
    format: 'jsonl',
  },
  'GET /customers/{customer}/tokens': {
    access: 'admin',
    summary: 'List control API tokens of the customer',
    result: z.object({ tokens: z.array(adminToken) }),
  },
  'POST /customers/{customer}/tokens': {
    access: 'admin',
    summary: 'Create a token with at most the rights of the caller. Only this response contains the secret',
    body: z.object({ name, role, expiresAt: expiry.default(null) }),
    result: z.object({ secret: z.string(), token: adminToken }),
  },
  'DELETE /customers/{customer}/tokens/{token}': {
    access: 'admin',
    summary: 'Revoke a token; with `withMade`, also what it issued',
    query: withMade,
    result: revokedToken,
  },
  'GET /customers/{customer}/notices': {
    access: 'viewer',
    summary: 'List targets of quota notifications at 80, 95 and 100 %',
    result: z.object({ targets: z.array(noticeTarget) }),
  },
  'POST /customers/{customer}/notices': {
    access: 'admin',
    summary: 'Add a webhook or email address. Only this response contains the signing secret of a webhook',
    body: z.object({ kind: z.enum(['webhook', 'email']), to: z.string().min(3).max(2_048) }),
    result: z.object({ target: noticeTarget, secret: z.string().nullable() }),
  },
  'POST /customers/{customer}/notices/{notice}/test': {
    access: 'admin',
    summary: 'Send a test notification',
    result: z.object({ delivered: z.boolean(), problem: z.string().nullable() }),
  },
  'DELETE /customers/{customer}/notices/{notice}': {
    access: 'admin',
    summary: 'Remove a notification target',
    result: done,
  },
} as const satisfies Record<RouteName, Route>;
