import { z } from 'zod';
import { MAX_TIME_MS } from '../../../base/max-time.ts';
import { usageStatuses } from '../../../gateway/metering/usage-meter.ts';
import { networks } from '../../../protocol/call.ts';
import { products } from '../../../protocol/product.ts';
import { memberRoles } from '../../accounts/roles.ts';

/** Values that many routes have. Times are Unix milliseconds. */

export const time = z.number().int().nonnegative();
/** When something that a caller makes is to end; null: never. */
export const expiry = z.number().int().min(0).max(MAX_TIME_MS).nullable();
export const count = z.number().int().nonnegative();
export const product = z.enum(Object.keys(products) as [keyof typeof products]);
export const network = z.enum(networks);
export const role = z.enum(memberRoles);
export const usageStatus = z.enum(usageStatuses);

/** 1 to 64 printable characters. */
export const name = z
  .string()
  .trim()
  .regex(/^\P{C}{1,64}$/u, '1 to 64 printable characters');

export const email = z.email().max(254).toLowerCase();

/** A page of a list: `next` is the cursor of the page behind it, null at the end. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** Where in a list, and how much of it. */
export const pageQuery = z.object({
  cursor: z.string().max(256).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

const queryTime = z.coerce.number().int().min(0).max(MAX_TIME_MS);

/** A stretch of time, from the first to before the second; without them the last hour. */
export const rangeQuery = z.object({ from: queryTime.optional(), to: queryTime.optional() });

export const done = z.object({ done: z.literal(true) });

/** A line of the audit log. */
export const auditEntry = z.object({
  id: count,
  at: time,
  /** `user:anna@example.com`, `token:7hQ2mKpZ`, `cli:root`. */
  actor: z.string(),
  action: z.string(),
  keyId: z.string().nullable(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

/** A token of a program, without its secret. */
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

/** Whether what was made with a token ends with it. */
export const withMade = z.object({ withMade: z.stringbool().default(false) });
export const endedToken = done.extend({
  /** Tokens and open invitations that ended with it. */
  made: count,
});
