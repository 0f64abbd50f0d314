import { z } from 'zod';
import { MAX_TIME_MS } from '../../../base/max-time.ts';
import { usageStatuses } from '../../../gateway/metering/usage-status.ts';
import { NETWORK_NAME, type Network } from '../../../protocol/call.ts';
import { products } from '../../../protocol/product.ts';
import { memberRoles } from '../../accounts/roles.ts';

/** Unix milliseconds. */
export const time = z.number().int().nonnegative();
/** Expiry in Unix milliseconds; null: never. */
export const expiry = z.number().int().min(0).max(MAX_TIME_MS).nullable();
export const count = z.number().int().nonnegative();
export const product = z.enum(Object.keys(products) as [keyof typeof products]);
/** Only the syntax: stored rows may name networks that the configuration no longer lists. */
export const network = z
  .string()
  .regex(NETWORK_NAME, 'must be the name of a network') as unknown as z.ZodType<Network, string>;
export const role = z.enum(memberRoles);
export const usageStatus = z.enum(usageStatuses);

export const name = z
  .string()
  .trim()
  .regex(/^\P{C}{1,64}$/u, 'must have 1 to 64 printable characters');

export const EMAIL_RULE = 'must be an email address such as name@example.com';
export const email = z.email().max(254).toLowerCase();

/** `next` is the cursor of the next page; null on the last page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

export const pageQuery = z.object({
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

/** Sort order of a list: a field, or the field after a `-` for the descending order. Without one, by id. */
export const sortBy = <Name extends string>(...names: readonly Name[]) => {
  const orders = names.flatMap((name) => [name, `-${name}`] as const);
  return z.enum(orders as [Name | `-${Name}`], `must be one of ${orders.join(', ')}`).optional();
};

const queryTime = z.coerce.number().int().min(0).max(MAX_TIME_MS);

/** The range [from, to). Usage and logs default to the last hour. */
export const rangeQuery = z.object({ from: queryTime.optional(), to: queryTime.optional() });

export const done = z.object({ done: z.literal(true) });

export const auditEntry = z.object({
  id: count,
  at: time,
  customerId: z.string().nullable(),
  /** Current names of the customer and the key; null: none, or removed. */
  customerName: z.string().nullable(),
  /** For example `user:anna@example.com`, `token:7hQ2mKpZ` or `cli:root`. */
  actor: z.string(),
  action: z.string(),
  keyId: z.string().nullable(),
  keyName: z.string().nullable(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

export const auditFilter = {
  action: z.string().max(64).optional(),
  /** As in the entries, for example `user:anna@example.com`. */
  actor: z.string().max(300).optional(),
};

export const adminToken = z.object({
  id: z.string(),
  start: z.string(),
  name: z.string(),
  role,
  createdBy: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  lastUsedAt: time.nullable(),
});

export const withMade = z.object({ withMade: z.stringbool().default(false) });
export const revokedToken = done.extend({
  /** Number of tokens, usage links and invitations issued by this token that were revoked with it. */
  made: count,
});

export const noticeTarget = z.object({
  id: z.string(),
  kind: z.enum(['webhook', 'email', 'slack', 'pagerduty']),
  to: z.string(),
  createdAt: time,
  lastSentAt: time.nullable(),
  lastProblem: z.string().nullable(),
});
