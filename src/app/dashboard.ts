import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import { dashboardRoutes } from '../servers/dashboard/routes.ts';
import type { HttpRoutes } from '../servers/http/routes.ts';
import { PACKAGE_ROOT } from './program-version.ts';

/** Output of `npm run build:web`. */
export const DASHBOARD_FOLDER = join(PACKAGE_ROOT, 'web/dist');

/** Dashboard routes. Without a build the service runs and logs how to build it. */
export function buildDashboardRoutes(log: Logger): HttpRoutes {
  if (!existsSync(join(DASHBOARD_FOLDER, 'dashboard.html')))
    log.info('Dashboard not built: run npm run build:web');
  return dashboardRoutes(DASHBOARD_FOLDER);
}
