import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import { dashboardRoutes } from '../servers/dashboard/routes.ts';
import type { HttpRoutes } from '../servers/http/routes.ts';

/** What `npm run build:web` makes: beside src/ in the sources, beside dist/ in the published package. */
export const DASHBOARD_FOLDER = join(import.meta.dirname, '../../web/dist');

/** The pages on the service's own door. Where they were not built the service runs all the same, and says so. */
export function buildDashboardRoutes(log: Logger): HttpRoutes {
  if (!existsSync(join(DASHBOARD_FOLDER, 'dashboard.html')))
    log.info('the dashboard is not built, so its pages say how: npm run build:web');
  return dashboardRoutes(DASHBOARD_FOLDER);
}
