import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, done, expiry, name, network, pageOf, pageQuery, product, time } from './values.ts';

const CIDR = /^[0-9a-fA-F.:]{2,45}(\/\d{1,3})?$/;
/** What can be an origin in some form; it is brought into its one form, and judged in that, where keys are made. */
const ORIGIN = /^[hH][tT][tT][pP][sS]?:\/\/(\*\.)?[^*/?#@\\\s]{1,260}\/?$/;
const METHOD = /^[A-Za-z0-9_./-]{1,64}\*?$/;

/** What a key may be used for; null where everything is. */
const networks = z.array(network).min(1).nullable();
const cidrs = z
  .array(z.string().regex(CIDR, 'an address or a range such as 192.0.2.0/24'))
  .min(1)
  .max(100)
  .nullable();
const origins = z
  .array(z.string().regex(ORIGIN, 'an origin such as https://app.example.com or https://*.example.com'))
  .min(1)
  .max(100)
  .nullable();
const methods = z
  .array(z.string().regex(METHOD, 'a method such as getBalance, or the start of one such as get*'))
  .min(1)
  .max(200)
  .nullable();
/** Calls a second and how many may come at once; null: those of the plan. */
const rate = z
  .strictObject({
    perSecond: z.number().int().min(1).max(10_000_000),
    burst: z.number().int().min(1).max(10_000_000),
  })
  .nullable();

export const keyView = z.object({
  id: z.string(),
  /** Prefix and id, as its owner sees the start of the key. */
  start: z.string(),
  familyId: z.string(),
  customerId: z.string(),
  product,
  name: z.string(),
  state: z.enum(['active', 'rotating', 'disabled', 'expired', 'revoked']),
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
  /** Calls a second from one address; public keys have it. */
  addressPerSecond: count.nullable(),
  logsBodies: z.boolean(),
  /** Whether no read may be of an older slot than the one before. */
  neverBack: z.boolean(),
  leakedAt: time.nullable(),
});
export type KeyJson = z.infer<typeof keyView>;

/** A key in the list, with what it did lately. */
const keyRow = keyView.extend({
  /** Credits of this month. */
  creditsUsed: count,
  /** Requests of each of the last 24 hours, the oldest first. */
  requests24h: z.array(count),
  errors24h: count,
});

/** The one time that the secret is anywhere. */
const newKey = z.object({ secret: z.string(), key: keyView });

const createKey = z.object({
  product,
  name,
  /** Absent: the customer's plan. `rehearsal` is a plan with tiny limits, to try out what happens beyond them. */
  planId: z.string().max(32).optional(),
  expiresAt: expiry.default(null),
  isPublic: z.boolean().default(false),
  networks: networks.default(null),
  cidrs: cidrs.default(null),
  origins: origins.default(null),
  methods: methods.default(null),
  rate: rate.default(null),
  addressPerSecond: z.number().int().min(1).max(1_000_000).nullable().default(null),
  logsBodies: z.boolean().default(false),
  neverBack: z.boolean().default(false),
});

/** What may be changed later; it holds for all keys of the family. */
const changeKey = z
  .object({
    name,
    expiresAt: expiry,
    networks,
    cidrs,
    origins,
    methods,
    rate,
    addressPerSecond: z.number().int().min(1).max(1_000_000).nullable(),
    logsBodies: z.boolean(),
    neverBack: z.boolean(),
  })
  .partial();

export const keyRoutes = {
  'GET /customers/{customer}/keys': {
    access: 'viewer',
    summary: 'The keys of a customer, in the order of their ids',
    query: pageQuery.extend({ product: product.optional(), withRevoked: z.stringbool().default(false) }),
    result: pageOf(keyRow),
  },
  'POST /customers/{customer}/keys': {
    access: 'developer',
    summary: 'Makes a key. Its secret is in this answer and nowhere else',
    body: createKey,
    result: newKey,
  },
  'GET /customers/{customer}/keys/{key}': {
    access: 'viewer',
    summary: 'One key, and the other keys of its family',
    result: z.object({ key: keyView, family: z.array(keyView) }),
  },
  'PATCH /customers/{customer}/keys/{key}': {
    access: 'developer',
    summary: 'Changes what a key may be used for',
    body: changeKey,
    result: keyView,
  },
  'POST /customers/{customer}/keys/{key}/rotate': {
    access: 'developer',
    summary: 'Makes a new key of the family; the old one goes on for the overlap',
    body: z.object({
      overlapMs: z
        .number()
        .int()
        .min(0)
        .max(90 * 24 * 3_600_000)
        .optional(),
    }),
    result: newKey.extend({ old: keyView }),
  },
  'POST /customers/{customer}/keys/{key}/cut': {
    access: 'developer',
    summary: 'Ends the overlap of a key that is being replaced',
    result: keyView,
  },
  'POST /customers/{customer}/keys/{key}/disable': {
    access: 'developer',
    summary: 'Stops a key until it is enabled again',
    result: keyView,
  },
  'POST /customers/{customer}/keys/{key}/enable': {
    access: 'developer',
    summary: 'Lets a key work again',
    result: keyView,
  },
  'POST /customers/{customer}/keys/{key}/revoke': {
    access: 'developer',
    summary: 'Ends a key for ever; its open sockets and streams close within a second',
    result: keyView,
  },
  'POST /customers/{customer}/keys/revoke': {
    access: 'developer',
    summary: 'Ends several keys for ever',
    body: z.object({ ids: z.array(z.string().length(8)).min(1).max(1_000) }),
    result: z.object({ keys: z.array(keyView) }),
  },
  'POST /keys/whose': {
    access: 'operator',
    summary: 'Whether a key of this service stands in a text, and whose; the text is kept nowhere',
    body: z.object({ text: z.string().max(512) }),
    result: z.object({
      /** Whether something of the form of a key stands in it: pattern and checksum. */
      wellFormed: z.boolean(),
      /** Whether that is a key here, its secret included. */
      matches: z.boolean(),
      key: keyView.nullable(),
    }),
  },
  'POST /secret-scanning': {
    access: 'anybody',
    summary:
      'Reports of secret scanners, signed as GitHub signs them: keys that are found are marked, and by configuration revoked',
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
    summary: 'Closes one open socket or stream',
    result: done,
  },
} as const satisfies Record<RouteName, Route>;
