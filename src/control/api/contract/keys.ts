import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, done, expiry, name, network, pageOf, pageQuery, product, sortBy, time } from './values.ts';

const CIDR = /^[0-9a-fA-F.:]{2,45}(\/\d{1,3})?$/;
/** A coarse check. keys/rule-columns.ts normalizes and fully validates origins. */
const ORIGIN = /^[hH][tT][tT][pP][sS]?:\/\/(\*\.)?[^*/?#@\\\s]{1,260}\/?$/;
const METHOD = /^[A-Za-z0-9_./-]{1,64}\*?$/;

export const OVERLAP_MAX_MS = 90 * 24 * 3_600_000;
export const OVERLAP_DEFAULT_MS = 24 * 3_600_000;

/** null: unrestricted. */
const networks = z.array(network).min(1).nullable();
const listOf = (pattern: RegExp, message: string, itemsMax: number) =>
  z.array(z.string().regex(pattern, message)).min(1).max(itemsMax).nullable();
const cidrs = listOf(CIDR, 'must be an IP address or a range such as 192.0.2.0/24', 100);
const origins = listOf(
  ORIGIN,
  'must be an origin such as https://app.example.com or https://*.example.com',
  100,
);
const methods = listOf(METHOD, 'must be a method such as getBalance, or a prefix such as get*', 200);
const addressPerSecond = z.number().int().min(1).max(1_000_000).nullable();
/** Calls per second and burst; null: the plan's rate. */
const rate = z
  .strictObject({
    perSecond: z.number().int().min(1).max(10_000_000),
    burst: z.number().int().min(1).max(10_000_000),
  })
  .nullable();

const keyStates = ['active', 'rotating', 'disabled', 'expired', 'revoked'] as const;

const keyView = z.object({
  id: z.string(),
  start: z.string(),
  familyId: z.string(),
  customerId: z.string(),
  product,
  name: z.string(),
  state: z.enum(keyStates),
  planId: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  replacedBy: z.string().nullable(),
  lastUsedAt: time.nullable(),
  lastUsedFrom: z.string().nullable(),
  isPublic: z.boolean(),
  networks: z.array(network).nullable(),
  cidrs: z.array(z.string()).nullable(),
  origins: z.array(z.string()).nullable(),
  methods: z.array(z.string()).nullable(),
  rate: z.object({ perSecond: count, burst: count }).nullable(),
  /** Calls per second from one address. */
  addressPerSecond: count.nullable(),
  logsBodies: z.boolean(),
  /** Monotonic reads: a read never returns data from an older slot than the reads before it. */
  neverBack: z.boolean(),
  leakedAt: time.nullable(),
});
export type KeyJson = z.infer<typeof keyView>;

const keyOwner = z.object({
  /** The text contains a key with a valid pattern and checksum. */
  wellFormed: z.boolean(),
  /** The text contains a key of this service, including its secret. */
  matches: z.boolean(),
  key: keyView.nullable(),
});
export type KeyOwnerJson = z.infer<typeof keyOwner>;

const keyRow = keyView.extend({
  creditsUsed: count,
  /** Requests in each of the last 24 hours, oldest first. */
  requests24h: z.array(count),
  errors24h: count,
});

/** The secret is not stored. */
const newKey = z.object({ secret: z.string(), key: keyView });

const createKey = z.object({
  product,
  name,
  /** Absent: the customer's plan. The plan `rehearsal` has tiny limits, to test how clients handle them. */
  planId: z.string().max(32).optional(),
  expiresAt: expiry.default(null),
  isPublic: z.boolean().default(false),
  networks: networks.default(null),
  cidrs: cidrs.default(null),
  origins: origins.default(null),
  methods: methods.default(null),
  rate: rate.default(null),
  addressPerSecond: addressPerSecond.default(null),
  logsBodies: z.boolean().default(false),
  neverBack: z.boolean().default(false),
});

/** Applies to the key and the other keys of its family that are neither revoked nor expired. */
const changeKey = z
  .object({
    name,
    expiresAt: expiry,
    networks,
    cidrs,
    origins,
    methods,
    rate,
    addressPerSecond,
    logsBodies: z.boolean(),
    neverBack: z.boolean(),
  })
  .partial();

const keyAction = (summary: string) => ({ access: 'developer', summary, result: keyView }) as const;

export const keyRoutes = {
  'GET /customers/{customer}/keys': {
    access: 'viewer',
    summary: 'List the keys of a customer',
    query: pageQuery.extend({
      product: product.optional(),
      state: z.enum(keyStates).optional(),
      /** Only keys whose name contains this text, or whose id or key prefix starts with it. */
      search: z.string().max(64).optional(),
      sort: sortBy('name', 'createdAt', 'lastUsedAt', 'expiresAt'),
      withRevoked: z.stringbool().default(false),
    }),
    result: pageOf(keyRow),
  },
  'POST /customers/{customer}/keys': {
    access: 'developer',
    summary: 'Create a key. Only this response contains the secret',
    body: createKey,
    result: newKey,
  },
  'GET /customers/{customer}/keys/{key}': {
    access: 'viewer',
    summary: 'Show a key and the other keys of its family',
    result: z.object({ key: keyView, family: z.array(keyView) }),
  },
  'PATCH /customers/{customer}/keys/{key}': {
    access: 'developer',
    summary: 'Change the rules, name or expiry of a key',
    body: changeKey,
    result: keyView,
  },
  'POST /customers/{customer}/keys/{key}/rotate': {
    access: 'developer',
    summary: 'Rotate a key: create its successor; the old key stays valid during the overlap',
    body: z.object({ overlapMs: z.number().int().min(0).max(OVERLAP_MAX_MS).optional() }),
    result: newKey.extend({ old: keyView }),
  },
  'POST /customers/{customer}/keys/{key}/playground-token': {
    access: 'developer',
    summary: 'Issue a playground token for this key, valid for five minutes. Needs a session',
    result: z.object({ token: z.string(), expiresAt: time }),
  },
  'POST /customers/{customer}/keys/{key}/cut': keyAction('End the overlap of a key in rotation'),
  'POST /customers/{customer}/keys/{key}/disable': keyAction('Disable a key until it is enabled again'),
  'POST /customers/{customer}/keys/{key}/enable': keyAction('Enable a disabled key'),
  'POST /customers/{customer}/keys/{key}/revoke': keyAction(
    'Revoke a key permanently; its open connections close within a second',
  ),
  'POST /customers/{customer}/keys/revoke': {
    access: 'developer',
    summary: 'Revoke several keys permanently',
    body: z.object({ ids: z.array(z.string().length(8)).min(1).max(1_000) }),
    result: z.object({ keys: z.array(keyView) }),
  },
  'POST /keys/whose': {
    access: 'operator',
    summary: 'Find a key of this service in a text, and its owner; the text is not stored',
    body: z.object({ text: z.string().max(512) }),
    result: keyOwner,
  },
  'POST /secret-scanning': {
    access: 'anybody',
    summary: 'Receive leak reports of secret scanners in the format of GitHub',
    body: z
      .array(
        z.object({
          token: z.string().max(512),
          type: z.string().max(128),
          url: z.string().max(2_048).optional(),
          source: z.string().max(64).optional(),
        }),
      )
      .max(1_000),
    result: z.array(
      z.object({
        token_hash: z.string(),
        token_type: z.string(),
        label: z.enum(['true_positive', 'false_positive']),
      }),
    ),
  },
  'DELETE /customers/{customer}/connections/{connection}': {
    access: 'developer',
    summary: 'Close an open connection or stream',
    result: done,
  },
} as const satisfies Record<RouteName, Route>;
