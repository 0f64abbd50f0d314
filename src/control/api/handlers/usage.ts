import type { usageRoutes } from '../contract/usage.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { usageCsv } from './usage-csv.ts';
import { usageErrors } from './usage-errors.ts';
import { usagePerformance } from './usage-performance.ts';
import { usageQuota } from './usage-quota.ts';
import { usageSeries } from './usage-series.ts';
import { usageSummary } from './usage-summary.ts';

/** What was used, and the checks of the books of it. */
export const usageHandlers = (services: ApiServices) =>
  ({
    'GET /customers/{customer}/summary': usageSummary(services),
    'GET /customers/{customer}/usage': usageSeries(services),
    'GET /customers/{customer}/usage.csv': usageCsv(services),
    'GET /customers/{customer}/quota': usageQuota(services),
    'GET /customers/{customer}/performance': usagePerformance(services),
    'GET /customers/{customer}/errors': usageErrors(services),
    async 'GET /checks'() {
      const rows = await services.store.db.selectFrom('usage_check').selectAll().orderBy('name').execute();
      return { checks: rows.map(({ ran_at, ...check }) => ({ ...check, ranAt: ran_at })) };
    },
  }) satisfies Handlers<keyof typeof usageRoutes | 'GET /checks'>;
