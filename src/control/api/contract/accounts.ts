import { z } from 'zod';
import { customerStates } from '../../accounts/roles.ts';
import type { Route, RouteName } from './route.ts';
import {
  adminToken,
  auditEntry,
  done,
  email,
  endedToken,
  expiry,
  name,
  pageOf,
  pageQuery,
  rangeQuery,
  role,
  time,
  withMade,
} from './values.ts';

const customer = z.object({
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
  /** Empty: for anybody who has the link. */
  email: z.string(),
  role,
  isOperator: z.boolean(),
  createdAt: time,
  expiresAt: time,
  createdBy: z.string(),
});

/** Who is told when a quota is used to 80, 95 and 100 %. */
const noticeTarget = z.object({
  id: z.string(),
  kind: z.enum(['webhook', 'email']),
  /** The URL or the address. */
  to: z.string(),
  createdAt: time,
  lastSentAt: time.nullable(),
  lastProblem: z.string().nullable(),
});

const auditQuery = pageQuery.extend(rangeQuery.shape).extend({
  action: z.string().max(64).optional(),
  key: z.string().length(8).optional(),
});

export const accountRoutes = {
  'GET /me': {
    access: 'anybody',
    summary: 'Who is signed in, for which customers, and what this service offers',
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
        /** Whether anybody may sign up, or only who was invited. */
        signUp: z.enum(['open', 'invited']),
        /** Whether the operator is still to be made, with the link that the first start printed. */
        needsSetup: z.boolean(),
        /** Log-in at other places by OpenID Connect. */
        oidc: z.array(z.object({ id: z.string(), name: z.string() })),
        network: z.string(),
        /** Where calls go, for snippets: without a path. grpc is null where that door is not open. */
        urls: z.object({ http: z.string(), ws: z.string(), grpc: z.string().nullable() }),
        hasShredStage: z.boolean(),
        /** In development mode the embedded ledger answers, not a Solana network. */
        mode: z.enum(['development', 'production']),
        plans: z.array(z.object({ id: z.string(), name: z.string() })),
        mail: z.boolean(),
      }),
    }),
  },
  'POST /customers': {
    access: 'signed-in',
    summary: 'Makes a customer whose owner is whoever asks; where sign-up is not open, only the operator may',
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
    summary: 'Changes a name; plan and state only by the operator',
    body: z.object({ name, planId: z.string().max(32), state: z.enum(customerStates) }).partial(),
    result: customer,
  },
  'GET /customers/{customer}/members': {
    access: 'viewer',
    summary: 'Members, and who is invited',
    result: z.object({ members: z.array(member), invitations: z.array(invitation) }),
  },
  'POST /customers/{customer}/invitations': {
    access: 'admin',
    summary:
      'Invites somebody. The link is in this answer and nowhere else, and is mailed where mail is configured',
    body: z.object({ email, role }),
    result: z.object({ invitation, link: z.string(), mailed: z.boolean() }),
  },
  'DELETE /customers/{customer}/invitations/{invitation}': {
    access: 'admin',
    summary: 'Takes an invitation back',
    result: done,
  },
  'POST /invitations/look': {
    access: 'anybody',
    summary: 'What an invitation is for, by its token',
    body: z.object({ token: z.string().max(128) }),
    result: z.object({
      customerName: z.string(),
      email: z.string(),
      role,
      isOperator: z.boolean(),
      expiresAt: time,
    }),
  },
  'POST /invitations/accept': {
    access: 'signed-in',
    summary: 'Joins the customer of an invitation',
    body: z.object({ token: z.string().max(128) }),
    result: customer,
  },
  'PATCH /customers/{customer}/members/{user}': {
    access: 'admin',
    summary: 'Changes a role. Only owners make owners, and the last owner stays one',
    body: z.object({ role }),
    result: member,
  },
  'DELETE /customers/{customer}/members/{user}': {
    access: 'admin',
    self: 'user',
    summary: 'Removes a member; anybody may remove themselves',
    result: done,
  },
  'GET /customers/{customer}/audit': {
    access: 'admin',
    summary: 'What was changed, by whom and from where, the newest first',
    query: auditQuery,
    result: pageOf(auditEntry),
  },
  'GET /customers/{customer}/audit.jsonl': {
    access: 'admin',
    summary: 'The same as lines of JSON, the oldest first',
    query: auditQuery.omit({ cursor: true, limit: true }),
    format: 'jsonl',
  },
  'GET /customers/{customer}/tokens': {
    access: 'admin',
    summary: 'Tokens with which programs use this API for the customer',
    result: z.object({ tokens: z.array(adminToken) }),
  },
  'POST /customers/{customer}/tokens': {
    access: 'admin',
    summary:
      'Makes a token. Its secret is in this answer and nowhere else. It may not more than who makes it',
    body: z.object({ name, role, expiresAt: expiry.default(null) }),
    result: z.object({ secret: z.string(), token: adminToken }),
  },
  'DELETE /customers/{customer}/tokens/{token}': {
    access: 'admin',
    summary:
      'Ends a token; `withMade` also ends what was made with it: tokens, those that these made, invitations',
    query: withMade,
    result: endedToken,
  },
  'GET /customers/{customer}/notices': {
    access: 'viewer',
    summary: 'Who is told when a quota is used to 80, 95 and 100 %',
    result: z.object({ targets: z.array(noticeTarget) }),
  },
  'POST /customers/{customer}/notices': {
    access: 'admin',
    summary:
      'Adds a webhook or an address. The secret that signs the calls of a webhook is in this answer and nowhere else',
    body: z.object({ kind: z.enum(['webhook', 'email']), to: z.string().min(3).max(2_048) }),
    result: z.object({ target: noticeTarget, secret: z.string().nullable() }),
  },
  'POST /customers/{customer}/notices/{notice}/test': {
    access: 'admin',
    summary: 'Sends a notice that says it is a test',
    result: z.object({ delivered: z.boolean(), problem: z.string().nullable() }),
  },
  'DELETE /customers/{customer}/notices/{notice}': {
    access: 'admin',
    summary: 'Tells a target nothing more',
    result: done,
  },
} as const satisfies Record<RouteName, Route>;
