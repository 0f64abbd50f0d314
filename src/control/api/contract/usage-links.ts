import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { creditsByDay, quota, usageSeries } from './usage.ts';
import { done, name, time } from './values.ts';

const usageLink = z.object({
  id: z.string(),
  name: z.string(),
  createdBy: z.string(),
  createdAt: time,
  expiresAt: time,
});

export const usageLinkRoutes = {
  'GET /customers/{customer}/usage-links': {
    access: 'admin',
    summary: 'List active links to the usage of the customer',
    result: z.object({ links: z.array(usageLink) }),
  },
  'POST /customers/{customer}/usage-links': {
    access: 'admin',
    summary: 'Create a link to the usage of the current month. Only this response contains the URL',
    body: z.object({ name, days: z.number().int().min(1).max(400).default(90) }),
    result: z.object({ link: usageLink, url: z.string() }),
  },
  'DELETE /customers/{customer}/usage-links/{link}': {
    access: 'admin',
    summary: 'Revoke a link to the usage of the customer',
    result: done,
  },
  'POST /usage-links/preview': {
    access: 'anybody',
    summary: 'Show the usage that a usage link shares',
    body: z.object({ token: z.string().max(128) }),
    result: z.object({
      customerName: z.string(),
      expiresAt: time,
      quotas: z.array(quota),
      days: creditsByDay,
      byProduct: usageSeries,
      byMethod: usageSeries,
    }),
  },
} as const satisfies Record<RouteName, Route>;
